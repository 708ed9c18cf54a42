// SPDX-License-Identifier: BSD-3-Clause

// Aggregate handles: nothing moves before the wait, neighbours of one kind and target become one
// vector operation, and the result is that of the single operations in their order.
package core

import (
	"testing"
)

const agg = uintptr(0x1234) // the handle's address

func (r *tr) collect(o *Op) {
	r.Helper()
	if taken, err := r.Collect(agg, o); !taken || err != nil {
		panic(err)
	}
}

// Operations under an aggregate handle are carried out in order by its wait, a flush or its end.
func TestAggregate(t *testing.T) {
	world(t, 2, func(r *tr) {
		mem, buf := r.alloc(1024), r.local(1024)
		if r.Me == 0 {
			for i := range memory(buf, 1024) {
				memory(buf, 1024)[i] = byte(i)
			}
			if !r.SetAggregate(agg) || r.SetAggregate(agg) {
				r.wrong("SetAggregate is to be true once")
			}
			for i := range uintptr(10) {
				r.collect(op(Put, 1, buf+i*8, mem[1]+i*16, 8))
			}
			r.collect(strided(Put, 1, buf+100, mem[1]+500, 8, 3, 32))
			r.collect(vector(Put, 1, 4, []uintptr{buf + 200, buf + 210},
				[]uintptr{mem[1] + 700, mem[1] + 800}))
			if n := r.c.Net.Count("put"); n != 0 {
				r.wrong("%d operations before the wait", n)
			}
			r.must(r.WaitAggregate(agg))
			if n, v := r.c.Net.Count("put"), r.c.Net.Count("put vector"); n != 1 ||
				v != 1 {
				r.wrong("%d puts, %d of them vectors, for twelve of one target", n,
					v)
			}
			r.must(r.Fence(1))
			got := memory(mem[1], 1024)
			if got[144] != 72 || got[500] != 100 || got[564+7] != 123 ||
				got[700] != 200 || got[803] != 213 || got[8] != 0 {
				r.wrong("%v", got)
			}
			if was, err := r.UnsetAggregate(agg); !was || err != nil {
				r.wrong("UnsetAggregate: %v %v", was, err)
			}
			if was, err := r.UnsetAggregate(agg); was || err != nil {
				r.wrong("UnsetAggregate again: %v %v", was, err)
			}
			if taken, err := r.Collect(agg, op(Put, 1, buf, mem[1], 8)); taken ||
				err != nil {
				r.wrong("an ordinary handle has collected: %v %v", taken, err)
			}
		}
		r.barrier()
	})
}

// Runs of one kind and target are joined, everything else keeps its order.
func TestAggregateOrder(t *testing.T) {
	world(t, 2, func(r *tr) {
		mem, buf := r.alloc(1024), r.local(1024)
		if r.Me == 0 {
			r.SetAggregate(agg)
			*long(buf), *long(buf + 8) = 1, 2
			r.collect(op(Put, 1, buf, mem[1], 8))
			// the same place: the last one counts
			r.collect(op(Put, 1, buf+8, mem[1], 8))
			r.collect(op(Get, 1, buf+16, mem[1], 8))
			r.collect(op(Put, 0, buf+16, mem[0], 8))
			r.collect(op(Put, 1, buf, mem[1]+64, 8)) // another target
			r.must(r.WaitAggregate(agg))
			r.must(r.AllFence())
			if *long(mem[1]) != 2 || *long(buf + 16) != 2 || *long(mem[0]) != 2 {
				r.wrong("%d, %d, %d", *long(mem[1]), *long(buf + 16), *long(mem[0]))
			}
			if *long(mem[0] + 64) != 0 || *long(mem[1] + 64) != 1 {
				r.wrong("the last put went astray")
			}
			if p, g := r.c.Net.Count("put"), r.c.Net.Count("get"); p != 3 || g != 1 {
				r.wrong("%d puts, %d gets", p, g)
			}
			r.must(r.WaitAggregate(agg)) // nothing is carried out twice
			if p := r.c.Net.Count("put"); p != 3 {
				r.wrong("%d puts after a second wait", p)
			}
		}
		r.barrier()
	})
}

// An accumulate is carried out at once, after what was collected before it.
func TestAggregateAcc(t *testing.T) {
	world(t, 1, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		*long(buf), *long(buf + 8) = 10, 5
		r.SetAggregate(agg)
		r.collect(op(Put, 0, buf, mem[0], 8))
		scale := int64(3)
		r.collect(accOf(op(Acc, 0, buf+8, mem[0], 8), &scale))
		scale = 0
		r.must(r.Fence(0))
		if got := *long(mem[0]); got != 25 {
			r.wrong("10 + 3*5 is %d", got)
		}
	})
}

// A mistake is told when it is made, and what was collected stays.
func TestAggregateMistake(t *testing.T) {
	world(t, 1, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		*long(buf) = 1
		r.SetAggregate(agg)
		r.collect(op(Put, 0, buf, mem[0], 8))
		taken, err := r.Collect(agg, op(Put, 0, buf, mem[0]+60, 8))
		if !taken {
			r.wrong("not taken")
		}
		wantArg(r, "Collect", err, "dst", CodeAddress, "8 bytes at")
		r.collect(op(Put, 0, buf, 0, 0)) // nothing
		r.must(r.WaitAggregate(agg))
		r.must(r.Fence(0))
		if *long(mem[0]) != 1 {
			r.wrong("the first operation is lost")
		}
	})
}

// The arrays of a collected operation are the caller's again at once; the data are not.
func TestAggregateDescriptors(t *testing.T) {
	world(t, 1, func(r *tr) {
		mem, buf := r.alloc(256), r.local(256)
		r.SetAggregate(agg)
		o := strided(Put, 0, buf, mem[0], 8, 2, 64)
		r.collect(o)
		o.Xfer.Count[1], o.Xfer.Remote.Stride[0] = 9, 1
		memory(buf, 16)[15] = 7
		r.must(r.FlushAggregates())
		r.must(r.Fence(0))
		if got := memory(mem[0], 256); got[64+7] != 7 {
			r.wrong("%v", got[:80])
		}
		if was, err := r.UnsetAggregate(agg); !was || err != nil {
			r.wrong("a flush ends no collecting: %v %v", was, err)
		}
	})
}
