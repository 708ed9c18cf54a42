// SPDX-License-Identifier: BSD-3-Clause

// Nodes and domains of several placements.
package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"libarmci/internal/transport"
)

// topologyOf is that of ranks on nodes that are letters.
func topologyOf(t *testing.T, me int, placement string) *Topology {
	t.Helper()
	topo, err := newTopology(transport.Rank(me), len(placement), nodesOf(placement))
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// nodesOf are nodes that are letters; upper and lower case of one letter are on one machine.
func nodesOf(placement string) (nodes []nodeRecord) {
	for i, c := range placement {
		if at := strings.IndexRune(placement, c); at < i {
			k := slices.IndexFunc(nodes,
				func(n nodeRecord) bool { return n.host == string(c) })
			nodes[k].ranks = append(nodes[k].ranks, transport.Rank(i))
			continue
		}
		nodes = append(nodes, nodeRecord{ranks: []transport.Rank{transport.Rank(i)},
			host:    string(c),
			machine: hashID(strings.ToLower(string(c)))})
	}
	return nodes
}

// Containers of one machine do not share abstract sockets, pretended nodes of one of them do.
func TestNamespaces(t *testing.T) {
	nodes := nodesOf("abcc")
	for i, netns := range []uint64{1, 2, 2} {
		nodes[i].machine, nodes[i].netns = 7, netns
	}
	for me, want := range [][2]int{{1, 0}, {3, 0}, {3, 1}, {3, 1}} {
		topo, err := newTopology(transport.Rank(me), 4, nodes)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{topo.NetnsRanks, topo.NetnsNode}; got != want ||
			topo.MachineRanks != 4 {
			t.Errorf("rank %d: %d ranks in node %d of the namespace, want %v; %d of "+
				"the machine",
				me, got[0], got[1], want, topo.MachineRanks)
		}
	}
	id, _ := NodeID("")
	pretended, _ := NodeID("n1|x")
	if netnsID(id) != netnsID(pretended) || netnsID(id) == machineID(id) {
		t.Errorf("%q, %q", id, pretended)
	}
}

// Ranks that are on two nodes, or on none, are a mistake of a record.
func TestNoTopology(t *testing.T) {
	twice, none := nodesOf("aab"), nodesOf("aab")
	twice[1].ranks[0], none[0].ranks = 1, none[0].ranks[:1]
	for text, nodes := range map[string][]nodeRecord{"rank 1 is on two nodes": twice,
		"1 ranks are on no node": none} {
		if _, err := newTopology(0, 3, nodes); err == nil || err.Error() != text {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The map of a large job is not printed whole.
func TestLongMap(t *testing.T) {
	var nodes []nodeRecord
	for n := range 20 {
		nodes = append(nodes, nodeRecord{host: fmt.Sprint("n", n)})
		for i := range 40 {
			nodes[n].ranks = append(nodes[n].ranks, transport.Rank(40*n+i))
		}
	}
	topo, err := newTopology(0, 800, nodes)
	if err != nil {
		t.Fatal(err)
	}
	if s := topo.String(); !strings.HasPrefix(s, "n0: 40 ranks from 0 to 39, n1: ") ||
		!strings.HasSuffix(s, "n15: 40 ranks from 600 to 639 and 4 more") {
		t.Error(s)
	}
}

// Domains are nodes where the ranks of each node follow each other, and single ranks elsewhere.
func TestDomains(t *testing.T) {
	for placement, want := range map[string]string{
		"aaaa": "[[0 1 2 3]]", "aabb": "[[0 1] [2 3]]", "aaab": "[[0 1 2] [3]]",
		"abbb": "[[0] [1 2 3]]",
		"abab": "[[0] [1] [2] [3]]", "abba": "[[0] [1] [2] [3]]",
		"aaba": "[[0] [1] [2] [3]]", "abcd": "[[0] [1] [2] [3]]",
	} {
		for me := range placement {
			top := topologyOf(t, me, placement)
			var domains [][]transport.Rank
			for id := range top.Domains() {
				domains = append(domains, top.DomainRanks(id))
			}
			if got := fmt.Sprint(domains); got != want {
				t.Errorf("%s: domains %s, expected %s", placement, got, want)
			}
			interleaved := placement == "abab" || placement == "abba" ||
				placement == "aaba"
			if top.Interleaved() != interleaved {
				t.Errorf("%s: interleaved: %v", placement, top.Interleaved())
			}
			for id, ranks := range domains {
				for _, r := range ranks {
					if top.Domain(r) != id {
						t.Errorf("%s: rank %d is in domain %d, not %d",
							placement, r, top.Domain(r), id)
					}
				}
			}
		}
	}
}
