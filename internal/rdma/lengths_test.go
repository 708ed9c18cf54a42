// SPDX-License-Identifier: BSD-3-Clause

// The lengths of send queues, as docs/growth.md has them.
package rdma

import "testing"

// TestQueueLengths: send queues have their usual length in small jobs, and stay bounded in large
// ones.
func TestQueueLengths(t *testing.T) {
	for _, c := range []struct{ nodes, perNode, origin, target int }{
		{1, 1, 256, 32}, {2, 1, 256, 32}, {8, 8, 256, 32}, {65, 16, 256, 32},
		{66, 16, 252, 31}, {129, 64, 128, 16}, {513, 1, 32, 32},
		{1563, 64, 32, 16},
	} {
		origins := c.perNode * (c.nodes - 1)
		o, s := originLength(c.nodes), targetLength(origins)
		if o != c.origin || s != c.target {
			t.Errorf("%d nodes of %d ranks: %d and %d requests, expected %d and %d",
				c.nodes, c.perNode, o, s, c.origin, c.target)
		}
		if all := o * (c.nodes - 1); all > allOriginRequests && o > leastOriginRequests {
			t.Errorf("%d nodes: %d requests in all", c.nodes, all)
		}
	}
	if leastOriginRequests < minRequests || leastOriginRequests > originRequests {
		t.Errorf("a queue of %d requests", leastOriginRequests)
	}
}
