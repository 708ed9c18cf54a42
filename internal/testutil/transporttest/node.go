// SPDX-License-Identifier: BSD-3-Clause

// A rank's share of a Cluster. Its parts have the contracts of the parts of transport.Node: memory
// (node_memory.go, private.go), messages (mailbox.go), notify counters and departure (notify.go),
// teams (team.go), mutexes and reader/writer locks (locks.go), events (events.go).
package transporttest

import (
	"slices"

	"libarmci/internal/transport"
)

// Node implements transport.Node for one rank.
type Node struct {
	*member
	nodeMemory
	nodeMailbox
	nodeCounters
	nodeLiveness
	nodeTeams
	nodeLocks
	nodeEvents
}

// member identifies a rank of a Cluster. Platform.Join sets nodeRanks.
type member struct {
	c         *Cluster
	rank      int              // of the world
	nodeRanks []transport.Rank // the ranks of the same node, ascending
}

func newNode(c *Cluster, rank int, nodeRanks []transport.Rank) *Node {
	m := &member{c: c, rank: rank, nodeRanks: nodeRanks}
	return &Node{member: m,
		nodeMemory: nodeMemory{member: m, nextFree: c.sliceBase(rank) + firstByte,
			allocated: map[uintptr]int64{}, published: map[uintptr]int64{}},
		nodeMailbox: nodeMailbox{member: m}, nodeCounters: nodeCounters{m},
		nodeLiveness: nodeLiveness{member: m}, nodeTeams: nodeTeams{member: m},
		nodeLocks: nodeLocks{m}, nodeEvents: nodeEvents{m}}
}

// Ranks are those that have joined together.
func (m *member) Ranks() []transport.Rank { return m.nodeRanks }

// Self is the local number of this rank.
func (m *member) Self() int { return slices.Index(m.nodeRanks, transport.Rank(m.rank)) }

// localNode is the Node of another rank of this node.
func (m *member) localNode(local int) *Node { return m.c.nodes[m.nodeRanks[local]] }

var _ transport.Node = (*Node)(nil)
