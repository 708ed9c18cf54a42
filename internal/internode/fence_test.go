// SPDX-License-Identifier: BSD-3-Clause

// The order in which a fence asks nodes. transporttest tests what fences wait for.
package internode

import (
	"slices"
	"testing"

	"libarmci/internal/transport"
)

// markRecorder is a device that records the order in which a fence asks what was posted.
type markRecorder struct {
	transport.DirectEndpoint // none
	node                     int
	order                    *[]int
}

func (a markRecorder) Mark() uint64        { *a.order = append(*a.order, a.node); return 0 }
func (a markRecorder) Reached(uint64) bool { return true }

// TestFenceBeginsAnywhere shows that a fence asks each node once, in turn, and begins with any of
// them: when all ranks fence at once, not all ask the same node first.
func TestFenceBeginsAnywhere(t *testing.T) {
	const nodes = 4
	var order []int
	tr := &Transport{}
	var peers []transport.Peer
	for n := range nodes {
		g := &target{t: tr, index: n, node: n, addr: []byte{1}}
		g.link.Store(&link{direct: markRecorder{node: n, order: &order}})
		tr.routes.targets, tr.routes.byPeer = append(tr.routes.targets, g),
			append(tr.routes.byPeer, g)
		peers = append(peers, transport.Peer(n))
	}
	first := map[int]int{}
	for range 200 {
		order = nil
		if err := tr.Fence(peers...); err != nil {
			t.Fatal(err)
		}
		if len(order) != nodes {
			t.Fatalf("asked %v, want each of %d nodes once", order, nodes)
		}
		turned := slices.Concat(order, order)
		if at := slices.Index(turned, 0); !slices.Equal(turned[at:at+nodes],
			[]int{0, 1, 2, 3}) {
			t.Fatalf("asked in the order %v, want it by turns", order)
		}
		first[order[0]]++
	}
	if len(first) != nodes {
		t.Errorf("200 fences began so often with each node: %v, want each of %d", first,
			nodes)
	}
}
