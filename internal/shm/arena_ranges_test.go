// SPDX-License-Identifier: BSD-3-Clause

// The arenas of nodes do not overlap as long as there is address space for that, and never leave
// the window.
package shm

import "testing"

// Ranges of different nodes do not overlap and lie within the window, unless there is only one.
func TestArenaRangesAreDisjoint(t *testing.T) {
	const base = uintptr(64) << 40
	for _, c := range []struct {
		need          int64
		nodes, ranges int
	}{
		{16 << 40, 1, 1}, {16 << 40, 8, 1}, {10 << 40, 8, 2}, {1 << 40, 3, 3},
		{1 << 40, 100, 20}, {96 << 30, 5, 5},
		{0, 4, 4}, {1 << 62, 4, 1},
	} {
		for node := range c.nodes {
			s := DivideAddresses(base, c.need, node, c.nodes)
			if s.Count != c.ranges || s.Mine != node%c.ranges {
				t.Fatalf("need %d, node %d of %d: range %d of %d, expected of %d",
					c.need, node, c.nodes, s.Mine, s.Count, c.ranges)
			}
			at, size := s.Arena(16 << 40)
			if s.Count > 1 && (at != base+uintptr(s.Mine)*uintptr(s.Bytes) ||
				size > s.Bytes || size < c.need ||
				at+uintptr(size) > base+uintptr(window)) {
				t.Errorf("need %d, node %d of %d: %d bytes at %#x", c.need, node,
					c.nodes, size, at)
			}
			if s.Count == 1 && (at != base || size != 16<<40) {
				t.Errorf("one range: %d bytes at %#x", size, at)
			}
		}
	}
}
