// SPDX-License-Identifier: BSD-3-Clause

// Updates by several processes at once, where the memory is and by way of copies: nothing is lost,
// every fetched number is another's, and elements that lie across the border of two locks are
// whole.
package shm

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// updates: all ranks add to longs of local rank 0 that begin 3 bytes beside their alignment, around
// the border of two stripes; in the arena, then in its private memory.
func updates(r *rank) {
	d := NewTransport(r.Node, nil)
	connect(r, d)
	private := exposed(r, 20)
	addTogether(r, d, shared(r, 10*page)+3)
	addTogether(r, d, private+3)
}

// exposed is so many pages of private memory of local rank 0.
func exposed(r *rank, pages int) uintptr {
	var mine uint64
	if r.Self() == 0 {
		private := testPages(r, pages)
		if err := r.Expose(private.lo, private.size()); err != nil {
			r.Fatal(err)
		}
		mine = uint64(private.lo)
	}
	return uintptr(share(r, mine)[0])
}

// addTogether: all ranks fetch and add, and swap, on the same longs at mem of local rank 0.
func addTogether(r *rank, d *Transport, mem uintptr) {
	const rounds, n = 100, 5000 // longs: more than a stripe
	ones, old := make([]int64, n), make([]int64, n)
	for i := range ones {
		ones[i] = 1
	}
	last, all := int64(-1), int64(rounds*len(r.Ranks()))
	for i := range rounds {
		u := transport.Update{Op: kernel.OpSum, Type: kernel.I64,
			Runs: []kernel.Segment{{Addr: mem, Bytes: 8 * n}},
			Data: unsafe.Pointer(&ones[0]), Old: unsafe.Pointer(&old[0])}
		update := func() error { return d.Update(0, &u) }
		if i%2 == 1 {
			update = func() error { return d.updateForeign(0, &u) }
		}
		if err := update(); err != nil {
			r.Fatal(err)
		}
		for _, was := range old {
			if was < int64(i) || was >= all {
				r.Errorf("round %d finds %d", i, was)
				break
			}
		}
		if old[0] <= last {
			r.Errorf("a fetched number is %d after %d", old[0], last)
		}
		last = old[0]
		r.swapUp(d, mem+uintptr(8*n), i%3 == 0)
	}
	r.World().Barrier()
	got := make([]byte, 8*(n+1))
	if err := r.ReadForeign(0, mem, got); err != nil {
		r.Fatal(err)
	}
	for i := range n + 1 {
		if x := binary.LittleEndian.Uint64(got[8*i:]); x != uint64(all) {
			r.Errorf("long %d is %d, expected %d", i, x, all)
			break
		}
	}
	r.World().Barrier()
}

// swapUp adds one to a long by compare-and-swap.
func (r *rank) swapUp(d *Transport, addr uintptr, foreign bool) {
	c := transport.CompareSwap{Addr: addr, Compare: make([]byte, 8), Value: make([]byte, 8),
		Old: make([]byte, 8)}
	do := d.CompareSwap
	if foreign {
		do = func(_ transport.Peer,
			c *transport.CompareSwap) error {
			return d.compareForeign(0, c)
		}
	}
	for {
		binary.LittleEndian.PutUint64(c.Value, binary.LittleEndian.Uint64(c.Compare)+1)
		if err := do(0, &c); err != nil {
			r.Fatal(err)
		}
		if bytes.Equal(c.Old, c.Compare) {
			return
		}
		copy(c.Compare, c.Old)
	}
}

func TestUpdates(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "updates")
}
