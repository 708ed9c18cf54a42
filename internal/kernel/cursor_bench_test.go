// cursor_bench_test.go: what a cursor costs, from its beginning to the end of the memory.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import "testing"

// BenchmarkCursor measures cursors of several shapes.
func BenchmarkCursor(b *testing.B) {
	a := newArena(0)
	buf := make([]byte, 1<<13)
	pieces := make([]Segment, 0, 1024)
	for _, w := range []struct {
		name string
		set  func(*Cursor)
	}{
		{"8B", func(c *Cursor) { c.SetContiguous(a.base, 8) }},
		{"8KiB", func(c *Cursor) { c.SetContiguous(a.base, 1<<13) }},
		{"8x8B", func(c *Cursor) { c.SetStrided(a.base, []int32{8, 8}, []int32{16}) }},
		{"1024x8B", func(c *Cursor) {
			c.SetStrided(a.base, []int32{8, 1024},
				[]int32{16})
		}},
		{"64x128B", func(c *Cursor) {
			c.SetStrided(a.base, []int32{128, 64},
				[]int32{256})
		}},
	} {
		var c Cursor
		w.set(&c)
		n := c.Left()
		for what, do := range map[string]func(){
			"pack":   func() { c.Pack(buf[:n]) },
			"unpack": func() { c.Unpack(buf[:n]) },
			"pieces": func() { c.Pieces(pieces, n) },
		} {
			b.Run(w.name+"/"+what, func(b *testing.B) {
				b.SetBytes(n)
				for b.Loop() {
					w.set(&c)
					do()
				}
			})
		}
	}
}
