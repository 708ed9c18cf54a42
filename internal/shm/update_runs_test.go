// SPDX-License-Identifier: BSD-3-Clause

// Updates of many runs at once in private memory of another process: they do what a kernel does to
// a copy, also where runs overlap, and updates of several processes in different orders lose
// nothing and end.
package shm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

const runPages = 2500

// updateRuns runs the scenarios of this file on private memory of local rank 0.
func updateRuns(r *rank) {
	d := NewTransport(r.Node, nil)
	connect(r, d)
	mem := exposed(r, runPages)
	if r.Self() == 1 {
		manyRuns(r, d, mem)
		overlappingRuns(r, d, mem)
	}
	swapEverywhere(r, d)
	r.World().Barrier()
	runsTogether(r, d, mem)
}

// asOracle updates runs of the private memory and those of a copy, and compares everything.
func (r *rank) asOracle(d *Transport, name string, mem uintptr, size int, u transport.Update) {
	n := int64(0)
	for _, run := range u.Runs {
		n += run.Bytes
	}
	copied, old, was := make([]byte, size), make([]byte, n), make([]byte, n)
	if err := r.ReadForeign(0, mem, copied); err != nil {
		r.Fatal(err)
	}
	fetch := u.Old != nil
	if fetch {
		u.Old = unsafe.Pointer(&old[0])
	}
	if err := d.Update(0, &u); err != nil {
		r.Fatalf("%s: %v", name, err)
	}
	there := slices.Clone(u.Runs)
	for i := range there {
		there[i].Addr += uintptr(unsafe.Pointer(&copied[0])) - mem
	}
	kernel.UpdateRuns(kernel.Stripes{}, u.Op, u.Type, there, u.Data, unsafe.Pointer(&was[0]))
	got := make([]byte, size)
	if err := r.ReadForeign(0, mem, got); err != nil {
		r.Fatal(err)
	}
	if !bytes.Equal(got, copied) {
		r.Errorf("%s: the memory is not what a kernel makes of it", name)
	}
	if fetch && !bytes.Equal(old, was) {
		r.Errorf("%s: other values were fetched", name)
	}
}

// manyRuns: 100000 runs of one to three integers, in ascending, descending and no order.
func manyRuns(r *rank, d *Transport, mem uintptr) {
	const n, step = 100000, 100
	random := rand.New(rand.NewPCG(1, 2))
	runs, data := make([]kernel.Segment, n), make([]int32, 3*n)
	for i := range runs {
		runs[i] = kernel.Segment{Addr: mem + uintptr(i*step) + 1,
			Bytes: 4 * random.Int64N(4)}
	}
	for i := range data {
		data[i] = int32(random.Uint32())
	}
	u := transport.Update{Op: kernel.OpReplace, Type: kernel.I32, Runs: runs,
		Data: unsafe.Pointer(&data[0])}
	r.asOracle(d, "replace, ascending", mem, runPages*page, u)
	slices.Reverse(runs)
	u.Op, u.Old = kernel.OpSum, u.Data
	r.asOracle(d, "sum, descending", mem, runPages*page, u)
	random.Shuffle(n, func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	r.asOracle(d, "sum, scattered", mem, runPages*page, u)
	u.Op = kernel.OpReplace
	r.asOracle(d, "exchange, scattered", mem, runPages*page, u)
	u.Op, u.Data = kernel.OpNoOp, nil
	r.asOracle(d, "fetch, scattered", mem, runPages*page, u)
}

// overlappingRuns: runs of every length on little memory, so that many of a batch lie upon each
// other, by parts of elements too.
func overlappingRuns(r *rank, d *Transport, mem uintptr) {
	const room = 40 * page
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 40 {
		typ := []kernel.UpdateType{kernel.I32, kernel.U64, kernel.PairF64Int,
			kernel.C80}[round%4]
		size := int64(kernel.UpdateBytes(typ))
		var runs []kernel.Segment
		n := int64(0)
		for range 600 {
			count := random.Int64N(4)
			if random.IntN(100) == 0 {
				count = random.Int64N(room / 2 / size)
			}
			at := mem + uintptr(random.Int64N(room-size*count))
			if round%3 == 0 {
				at = mem + uintptr(random.Int64N(min(300, room-size*count)))
			}
			runs = append(runs, kernel.Segment{Addr: at, Bytes: size * count})
			n += size * count
		}
		data := make([]byte, n+1)
		for i := range data {
			data[i] = byte(random.IntN(3))
		}
		u := transport.Update{Op: kernel.OpReplace, Type: typ, Runs: runs,
			Data: unsafe.Pointer(&data[0])}
		if typ == kernel.I32 || typ == kernel.U64 {
			u.Op = kernel.OpSum
		}
		if round%2 == 0 {
			u.Old = u.Data
		}
		r.asOracle(d, fmt.Sprintf("overlapping runs, round %d", round), mem, room, u)
	}
}

// swapEverywhere: compare-and-swap under every lock. The number of an address' lock, or the address
// itself, may be an address of Go's own data in the process that swaps.
func swapEverywhere(r *rank, d *Transport) {
	const stripe = 1 << kernel.StripeShift
	stripes := int(d.stripes.Mask) + 1
	mem, one := exposed(r, stripes*stripe/page), make([]byte, 8)
	if r.Self() != 1 {
		return
	}
	for i := range stripes {
		at := mem + uintptr(i)*stripe
		r.swapUp(d, at, false)
		if err := r.ReadForeign(0, at, one); err != nil || one[0] != 1 {
			r.Fatalf("stripe %d: %v, error %v", i, one, err)
		}
	}
}

// runsTogether: all ranks add to the same longs, which lie around the ends of stripes, in different
// orders, some of them twice in an update, beside compare-and-swap.
func runsTogether(r *rank, d *Transport, mem uintptr) {
	const rounds, n, stripe = 30, 600, 1 << kernel.StripeShift
	random := rand.New(rand.NewPCG(5, uint64(r.Self())))
	first := (mem+stripe-1)&^(stripe-1) + stripe - 4
	longs := make([]uintptr, n)
	for i := range longs {
		longs[i] = first + uintptr(i%5)*8 + uintptr(i/5)*stripe
	}
	zeros, ones := make([]byte, n), make([]int64, 2*n)
	for i := range ones {
		ones[i] = 1
	}
	if r.Self() == 0 {
		for _, at := range longs {
			copy(unsafe.Slice((*byte)(kernel.Ptr(at)), 8), zeros)
		}
	}
	r.World().Barrier()
	for range rounds {
		var runs []kernel.Segment
		for _, i := range append(random.Perm(n), random.Perm(n)...) {
			runs = append(runs, kernel.Segment{Addr: longs[i], Bytes: 8})
		}
		u := transport.Update{Op: kernel.OpSum, Type: kernel.I64, Runs: runs,
			Data: unsafe.Pointer(&ones[0])}
		if err := d.Update(0, &u); err != nil {
			r.Fatal(err)
		}
		for i := range 10 {
			r.swapUp(d, longs[(i*61)%n], false)
		}
	}
	r.World().Barrier()
	for i, at := range longs {
		var x int64
		if err := r.ReadForeign(0, at, unsafe.Slice((*byte)(unsafe.Pointer(&x)),
			8)); err != nil {
			r.Fatal(err)
		}
		want := 2 * rounds * len(r.Ranks())
		for j := range 10 {
			if (j*61)%n == i {
				want += rounds * len(r.Ranks())
			}
		}
		if x != int64(want) {
			r.Errorf("long %d is %d, expected %d", i, x, want)
		}
	}
	r.World().Barrier()
}

func TestUpdateRuns(t *testing.T) {
	for _, noVM := range []bool{false, true} {
		for _, p := range launch(t, 3, "update runs", func(o *order) { o.NoVM = noVM }) {
			p.awaitExit(t, false)
		}
	}
}
