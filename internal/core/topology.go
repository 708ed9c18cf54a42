// SPDX-License-Identifier: BSD-3-Clause

// Which rank runs on which node. A node is identified by boot id, host name and network namespace, not by host name
// alone. ARMCI_NODE overrides that, so that tests can pretend several nodes on one machine.
package core

import (
	"fmt"
	"os"
	"strings"

	"libarmci/internal/transport"
)

// Topology is constant after Start. Nodes are numbered by their lowest rank.
type Topology struct {
	Nodes        [][]transport.Rank // ranks of each node, ascending
	Hosts        []string           // host name of each node
	MachineRanks int                // ranks on my machine, which may be several nodes (pretended, or containers)
	// Domains are what armci_domain_* report: the nodes if the ranks of each node are consecutive, else one domain per rank.
	// Global Arrays assumes that the ranks of a domain are consecutive, and fails otherwise.
	Domains     [][]transport.Rank
	nodeOf      []int  // by rank
	local       []int  // by rank: its number among the ranks of its node
	sameMachine []bool // by rank: is it on my machine?
	me          transport.Rank
}

// newTopology groups ranks by their node's identity.
func newTopology(me transport.Rank, ids, hosts []string) *Topology {
	t := &Topology{nodeOf: make([]int, len(ids)), local: make([]int, len(ids)), me: me,
		sameMachine: make([]bool, len(ids))}
	number := map[string]int{}
	for r, id := range ids {
		n, known := number[id]
		if !known {
			n = len(t.Nodes)
			number[id] = n
			t.Nodes = append(t.Nodes, nil)
			t.Hosts = append(t.Hosts, hosts[r])
		}
		t.nodeOf[r] = n
		t.local[r] = len(t.Nodes[n])
		t.Nodes[n] = append(t.Nodes[n], transport.Rank(r))
		if machine(id) == machine(ids[me]) {
			t.MachineRanks++
			t.sameMachine[r] = true
		}
	}
	t.Domains = t.Nodes
	if !t.consecutive() {
		t.Domains = make([][]transport.Rank, len(ids))
		for r := range ids {
			t.Domains[r] = []transport.Rank{transport.Rank(r)}
		}
	}
	return t
}

// consecutive tells whether the ranks of each node are consecutive.
func (t *Topology) consecutive() bool {
	for _, ranks := range t.Nodes {
		if int(ranks[len(ranks)-1]-ranks[0]) != len(ranks)-1 {
			return false
		}
	}
	return true
}

// Domain is the number of a rank's domain.
func (t *Topology) Domain(r transport.Rank) int {
	if len(t.Domains) == len(t.Nodes) {
		return t.nodeOf[r]
	}
	return int(r)
}

// Interleaved tells whether domains are not nodes, because the ranks of a node are not consecutive.
func (t *Topology) Interleaved() bool { return len(t.Domains) != len(t.Nodes) }

// Node is the node number of a rank.
func (t *Topology) Node(r transport.Rank) int { return t.nodeOf[r] }

// Local is the number of a rank among the ranks of its node.
func (t *Topology) Local(r transport.Rank) int { return t.local[r] }

// MyNode is the calling rank's node.
func (t *Topology) MyNode() int { return t.nodeOf[t.me] }

// SameNode tells whether a rank shares the caller's node.
func (t *Topology) SameNode(r transport.Rank) bool { return t.nodeOf[r] == t.MyNode() }

// SameMachine tells whether a rank is on the caller's machine, perhaps on another (pretended) node of it.
func (t *Topology) SameMachine(r transport.Rank) bool { return t.sameMachine[r] }

// String is the node map in one line.
func (t *Topology) String() string {
	var b strings.Builder
	for i, ranks := range t.Nodes {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: ranks %v", t.Hosts[i], ranks)
	}
	return b.String()
}

// machine is the part of a node's identity that is the same for all nodes of one machine: its boot id.
func machine(id string) string {
	boot, _, _ := strings.Cut(id, "|")
	return boot
}

// NodeID is this machine's identity for newTopology, and its host name. pretend is ARMCI_NODE.
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
