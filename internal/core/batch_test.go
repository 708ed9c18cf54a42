// SPDX-License-Identifier: BSD-3-Clause

// Batches: what C may add and when, and that it is carried out in its place among what came another
// way. The test adds as the front door's C half does.
package core

import "testing"

// add is capi's front_collect.
func (r *tr) add(handle uintptr, o *Op) bool {
	b := &r.Batches()[handle>>3%numBatches]
	if o.Xfer.Vector != nil || b.owner.Load() != handle || !b.busy.CompareAndSwap(0, 1) {
		return false
	}
	defer b.busy.Store(0)
	return b.addTransfer(o)
}

// bundle adds an operation in C or in Go and tells whether it was C.
func (r *tr) bundle(handle uintptr, o *Op) bool {
	if r.add(handle, o) {
		return true
	}
	if taken, err := r.Collect(handle, o); !taken || err != nil {
		panic(err)
	}
	return false
}

// Many puts are one vector, however many of them fit into a batch.
func TestBatch(t *testing.T) {
	apart.run(t, nil, func(r *tr) {
		const n = 2*batchCapacity + 100
		mem, buf := r.alloc(8*n), r.local(8*n)
		if r.Me == 0 {
			for round := range 3 {
				r.SetAggregate(agg)
				slow := 0
				for i := range uintptr(n) {
					*long(buf + 8*i) = int64(i) * int64(round)
					if !r.bundle(agg, op(Put, 1, buf+8*i, mem[1]+8*(i*7%n),
						8)) {
						slow++
					}
				}
				if slow > 4 {
					r.wrong("%d of %d operations were left to Go", slow, n)
				}
				was, err := r.UnsetAggregate(agg)
				r.must(err)
				r.must(r.Fence(1))
				if v := r.c.Between.Count("put vector"); !was || v != round+1 {
					r.wrong("%d vectors after %d aggregates", v, round+1)
				}
				for i := range uintptr(n) {
					if got := *long(mem[1] + 8*(i*7%n)); got != int64(i)*int64(
						round) {
						r.wrong("word %d is %d", i, got)
					}
				}
			}
		}
		r.barrier()
	})
}

// What is unlike what came before goes to Go, which keeps the order.
func TestBatchOrder(t *testing.T) {
	apart.run(t, nil, func(r *tr) {
		mem, buf := r.alloc(1024), r.local(1024)
		if r.Me == 0 {
			r.SetAggregate(agg)
			*long(buf), *long(buf + 8), *long(buf + 16) = 1, 2, 3
			how := []bool{
				r.bundle(agg, op(Put, 1, buf, mem[1], 8)),
				r.bundle(agg, op(Put, 1, buf+8, mem[1]+8, 8)),
				r.bundle(agg, op(Get, 1, buf+32, mem[1], 8)),
				r.bundle(agg, op(Get, 1, buf+40, mem[1]+8, 8)),
				r.bundle(agg, op(Put, 1, buf+16, mem[1], 8)),
				r.bundle(agg, op(Put, 1, buf+16, mem[1]+16, 4)),
				r.bundle(agg, op(Put, 0, buf+16, mem[0], 8)),
				r.bundle(agg, op(Put, 1, buf+16, mem[1]+24, 8)),
				r.bundle(agg, vector(Put, 1, 8, []uintptr{buf},
					[]uintptr{mem[1] + 32}))}
			for i, c := range how {
				if c != (i == 1 || i == 3 || i == 5) {
					r.wrong("operation %d was collected in C: %v", i, c)
				}
			}
			r.must(r.WaitAggregate(agg))
			r.must(r.AllFence())
			if *long(buf + 32) != 1 || *long(buf + 40) != 2 || *long(mem[1]) != 3 ||
				*long(mem[1] + 8) != 2 ||
				*long(mem[1] + 24) != 3 || *long(mem[1] + 32) != 1 {
				r.wrong("%v, %v", memory(buf, 48), memory(mem[1], 40))
			}
			if r.add(agg, op(Put, 1, buf, mem[1]+24, 8)) {
				r.wrong("a batch is open after the wait")
			}
		}
		r.barrier()
	})
}

// A batch ends where the region does; a mistake is told at the call. It is closed when memory is
// freed, and left to the next handle of its place.
func TestBatchBounds(t *testing.T) {
	apart.run(t, nil, func(r *tr) {
		mem, other, buf := r.alloc(64), r.alloc(64), r.local(64)
		last := op(Put, 1-int(r.Me), buf, mem[1-r.Me]+56, 8)
		r.SetAggregate(agg)
		r.SetAggregate(agg + 8*numBatches) // of the same place: without a batch
		r.bundle(agg, last)
		if !r.add(agg, last) || r.add(agg+8*numBatches, last) {
			r.wrong("the last word of a region, and a handle without a batch")
		}
		for _, at := range []uintptr{mem[1-r.Me] + 57, mem[1-r.Me] + 64, mem[1-r.Me] - 8,
			other[1-r.Me]} {
			if r.add(agg, op(Put, 1-int(r.Me), buf, at, 8)) {
				r.wrong("a put at %#x is in the region at %#x", at, mem[1-r.Me])
			}
		}
		_, err := r.Collect(agg, op(Put, 1-int(r.Me), buf, mem[1-r.Me]+60, 8))
		wantArg(r, "Collect", err, "dst", CodeAddress, "8 bytes at")
		r.barrier()
		r.must(r.Free(r.group(World), other[r.Me]))
		if r.add(agg, last) {
			r.wrong("a batch is open after memory was freed")
		}
		for _, h := range []uintptr{agg, agg + 8*numBatches} {
			if was, err := r.UnsetAggregate(h); !was || err != nil {
				r.wrong("UnsetAggregate: %v %v", was, err)
			}
		}
		r.SetAggregate(agg + 8*numBatches)
		r.bundle(agg+8*numBatches, last)
		if !r.add(agg+8*numBatches, last) {
			r.wrong("no batch for the next handle")
		}
		r.barrier()
	})
}
