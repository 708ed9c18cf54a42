// SPDX-License-Identifier: BSD-3-Clause

// Which rank runs on which node. A node is identified by boot id, host name and network namespace,
// not by host name alone. ARMCI_NODE overrides that, so that tests can pretend several nodes on one
// machine.
package core

import (
	"fmt"
	"os"
	"strings"

	"libarmci/internal/transport"
)

// Topology is constant after Start. Nodes are numbered by their lowest rank. It has 16 bytes for
// each rank of the job.
type Topology struct {
	Nodes [][]transport.Rank // ranks of each node, ascending
	Hosts []string           // host name of each node
	// ranks on this rank's machine, which may be several nodes (pretended, or containers)
	MachineRanks int
	// ranks in this rank's network namespace: on its node and on pretended other ones
	NetnsRanks  int
	NetnsNode   int     // number of its node among the nodes of that network namespace
	nodeOf      []int32 // by rank
	local       []int32 // by rank: its number among the ranks of its node
	sameMachine []bool  // by node: is it on this rank's machine?
	interleaved bool
	me          transport.Rank
}

// newTopology is that of a job of n ranks. Every rank must be of one node.
func newTopology(me transport.Rank, n int, nodes []nodeRecord) (*Topology, error) {
	t := &Topology{Nodes: make([][]transport.Rank, len(nodes)),
		Hosts: make([]string, len(nodes)), nodeOf: make([]int32, n),
		local: make([]int32, n), sameMachine: make([]bool, len(nodes)), me: me}
	for i := range t.nodeOf {
		t.nodeOf[i] = -1
	}
	unplaced := n
	for i, node := range nodes {
		t.Nodes[i], t.Hosts[i] = node.ranks, node.host
		for k, r := range node.ranks {
			if t.nodeOf[r] >= 0 {
				return nil, fmt.Errorf("rank %d is on two nodes", r)
			}
			t.nodeOf[r], t.local[r] = int32(i), int32(k)
		}
		unplaced -= len(node.ranks)
		if last := len(node.ranks) - 1; int(node.ranks[last]-node.ranks[0]) != last {
			t.interleaved = true
		}
	}
	if unplaced != 0 {
		return nil, fmt.Errorf("%d ranks are on no node", unplaced)
	}
	for i, node := range nodes {
		if node.machine == nodes[t.MyNode()].machine {
			t.MachineRanks += len(node.ranks)
			t.sameMachine[i] = true
		}
		if node.netns == nodes[t.MyNode()].netns {
			t.NetnsRanks += len(node.ranks)
			if i < t.MyNode() {
				t.NetnsNode++
			}
		}
	}
	return t, nil
}

// Domains are what armci_domain_* report: the nodes if the ranks of each node are consecutive, else
// one domain per rank. Global Arrays assumes that the ranks of a domain are consecutive, and fails
// otherwise.
func (t *Topology) Domains() int {
	if t.interleaved {
		return len(t.nodeOf)
	}
	return len(t.Nodes)
}

// DomainRanks lists the ranks of a domain.
func (t *Topology) DomainRanks(domain int) []transport.Rank {
	if t.interleaved {
		return []transport.Rank{transport.Rank(domain)}
	}
	return t.Nodes[domain]
}

// Domain is the number of a rank's domain.
func (t *Topology) Domain(r transport.Rank) int {
	if t.interleaved {
		return int(r)
	}
	return t.Node(r)
}

// Interleaved tells whether domains are not nodes, because the ranks of a node are not consecutive.
func (t *Topology) Interleaved() bool { return t.interleaved }

// Node is the node number of a rank.
func (t *Topology) Node(r transport.Rank) int { return int(t.nodeOf[r]) }

// Local is the number of a rank among the ranks of its node.
func (t *Topology) Local(r transport.Rank) int { return int(t.local[r]) }

// MyNode is the calling rank's node.
func (t *Topology) MyNode() int { return t.Node(t.me) }

// Mine lists the ranks of the calling rank's node.
func (t *Topology) Mine() []transport.Rank { return t.Nodes[t.MyNode()] }

// SameNode tells whether a rank shares the caller's node.
func (t *Topology) SameNode(r transport.Rank) bool { return t.nodeOf[r] == t.nodeOf[t.me] }

// SameMachine tells whether a rank is on the caller's machine, perhaps on another (pretended) node
// of it.
func (t *Topology) SameMachine(r transport.Rank) bool { return t.sameMachine[t.Node(r)] }

const (
	maxNodesShown = 16 // that String lists
	maxRanksShown = 32 // of a node
)

// String is the node map in one line; of a large job the beginning.
func (t *Topology) String() string {
	var b strings.Builder
	for i, ranks := range t.Nodes[:min(len(t.Nodes), maxNodesShown)] {
		if i > 0 {
			b.WriteString(", ")
		}
		if len(ranks) <= maxRanksShown {
			fmt.Fprintf(&b, "%s: ranks %v", t.Hosts[i], ranks)
		} else {
			fmt.Fprintf(&b, "%s: %d ranks from %d to %d", t.Hosts[i], len(ranks),
				ranks[0], ranks[len(ranks)-1])
		}
	}
	if more := len(t.Nodes) - maxNodesShown; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

// machineID is the part of a node's identity that is the same for all nodes of one machine: its
// boot id.
func machineID(id string) string {
	boot, _, _ := strings.Cut(id, "|")
	return boot
}

// netnsID is the part that is the same for all nodes of one network namespace, where abstract
// sockets are shared: all but the pretended name. Containers of one machine differ in it.
func netnsID(id string) string {
	parts := strings.SplitN(id, "|", 4)
	return strings.Join(parts[:min(len(parts), 3)], "|")
}

// NodeID is this machine's identity for bootstrap.Job.Split, and its host name. pretend is
// ARMCI_NODE.
func NodeID(pretend string) (id, host string) {
	host, _ = os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	netns, _ := os.Readlink("/proc/self/ns/net")
	id = strings.Join([]string{strings.TrimSpace(string(boot)), host, netns, pretend}, "|")
	if pretend != "" {
		host = pretend
	}
	return id, host
}
