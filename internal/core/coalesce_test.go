// SPDX-License-Identifier: BSD-3-Clause

// Coalescing: what is posted at once, what is collected, and when that is posted. The tests add to
// batches as the front door's C half does.
package core

import (
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// coalesced runs f on rank 0 of two ranks, between which operations are coalesced.
func coalesced(t *testing.T, change func(*transporttest.Cluster),
	f func(r *tr, mem []uintptr, buf uintptr)) {
	t.Helper()
	apart.run(t, func(c *transporttest.Cluster) {
		c.Wire.Coalesces = true
		if change != nil {
			change(c)
		}
	}, func(r *tr) {
		mem, buf := r.alloc(1<<17), r.local(1<<17)
		for i := range uintptr(1 << 14) {
			*long(mem[r.Me] + 8*i), *long(buf + 8*i) = int64(i)+1000, -1
		}
		if r.EnableCoalescing(new(atomic.Int32)); r.coalescing.coalescers == nil {
			r.wrong("nothing is coalesced")
		}
		r.barrier()
		if r.Me == 0 {
			f(r, mem, buf)
			// A thread that has posted a batch may not have counted that when its
			// operations are complete.
			for end := time.Now().Add(
				10 * time.Second); r.coalescing.openCount.Load() != 0 &&
				time.Now().Before(end); {
				time.Sleep(100 * time.Microsecond)
			}
			if n := r.coalescing.openCount.Load(); n != 0 || r.open() != 0 {
				r.wrong("%d batches and %d operations are open", n, r.open())
			}
		}
		r.barrier()
	})
}

// inC is capi's front_coalesce: false if Go has to act.
func (r *tr) inC(hdl *int32, o *Op) bool {
	b := &r.coalescing.batches[o.Proc%numCoalescers]
	if !b.busy.CompareAndSwap(0, 1) {
		return false
	}
	defer b.busy.Store(0)
	owner := int32(b.owner.Load())
	shares := owner == Done
	if hdl != nil {
		shares = owner != Done && (*hdl == Done || *hdl == owner)
	}
	if !shares || !b.addTransfer(o) {
		return false
	}
	if hdl != nil {
		*hdl = owner
	}
	return true
}

// begin begins an operation as ARMCI_NbPut and ARMCI_NbGet do, and tells whether that took C alone.
func (r *tr) begin(hdl *int32, o *Op) bool {
	r.Helper()
	switch {
	case r.inC(hdl, o):
		return true
	case hdl != nil:
		r.under(hdl, o)
	default:
		_, err := r.Start(o, true)
		r.must(err)
	}
	return false
}

// word is an operation on a word of rank 1.
func word(kind Kind, mem []uintptr, buf uintptr, i int) *Op {
	at := 8 * uintptr(i)
	return op(kind, 1, buf+at, mem[1]+at, 8)
}

func (r *tr) count(what string, want int) {
	r.Helper()
	if n := r.c.Between.Count(what); n != want {
		r.wrong("%d of %q, expected %d", n, what, want)
	}
}

// posted waits until no batch is open.
func (r *tr) posted() {
	r.Helper()
	end := time.Now().Add(10 * time.Second)
	for r.coalescing.openCount.Load() != 0 && time.Now().Before(end) {
		r.internode.tr.Progress(0)
		time.Sleep(100 * time.Microsecond)
	}
}

func (r *tr) got(buf uintptr, words int) {
	r.Helper()
	for i := range words {
		if v := *long(buf + 8*uintptr(i)); v != int64(i)+1000 {
			r.wrong("word %d is %d", i, v)
			return
		}
	}
}

// The first get is posted at once; the others are one vector, under one number, which the first
// wait posts.
func TestCoalesce(t *testing.T) {
	coalesced(t, nil, func(r *tr, mem []uintptr, buf uintptr) {
		const n = 100
		var hdl [n]int32
		r.c.Between.Hold()
		slow := 0
		for i := range n {
			if !r.begin(&hdl[i], word(Get, mem, buf, i)) {
				slow++
			}
		}
		r.count("get", 1)
		if slow != 2 || hdl[0] == hdl[1] || hdl[1] != hdl[n-1] || hdl[1] == Done {
			r.wrong("%d entries of Go, handles %v", slow, hdl)
		}
		if done, err := r.Test(hdl[n-1]); done || err != nil {
			r.wrong("Test: %v %v", done, err)
		}
		r.count("get", 2)
		r.count("get vector", 1)
		r.c.Between.Release()
		for i := n - 1; i >= 0; i-- {
			r.must(r.Wait(hdl[i]))
		}
		r.got(buf, n)
		r.begin(&hdl[0], word(Get, mem, buf, 0))
		if r.inC(&hdl[1], word(Get, mem, buf, 1)) {
			r.wrong("a batch is open after the waits")
		}
		r.must(r.Wait(hdl[0]))
	})
}

// When the answer comes what was collected is posted, and completes, without the caller.
func TestCoalesceProgress(t *testing.T) {
	coalesced(t, nil, func(r *tr, mem []uintptr, buf uintptr) {
		r.c.Between.Hold()
		var hdl [8]int32
		for i := range hdl {
			r.begin(&hdl[i], word(Get, mem, buf, i))
		}
		r.c.Between.Release()
		for i := range hdl {
			last := (*atomic.Int64)(kernel.Ptr(buf + 8*uintptr(i)))
			for end := time.Now().Add(10 * time.Second); last.Load() == -1; {
				if time.Now().After(end) {
					r.wrong("nothing comes")
					break
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
		r.got(buf, len(hdl))
		for i := range hdl {
			r.must(r.Wait(hdl[i]))
		}
	})
}

// An operation that does not fit into the batch posts it and opens another one; all of them are
// carried out.
func TestCoalesceBounds(t *testing.T) {
	coalesced(t, nil, func(r *tr, mem []uintptr, buf uintptr) {
		r.c.Between.Hold()
		const n = 2*batchCapacity + 10
		var hdl [n]int32
		for i := range n { // as many as there is room for
			r.begin(&hdl[i], word(Get, mem, buf, i))
		}
		r.count("get", 3)
		small := op(Get, 1, buf+8*n, mem[1]+8*n, 4) // sizes may differ
		other := op(Get, 1, buf+8*n+4, mem[1]+8*n+4, maxCoalescedBytes)
		var last [2]int32
		if !r.begin(&last[0], small) || !r.begin(&last[1], other) {
			r.wrong("other sizes were not added in C")
		}
		for i, o := range []*Op{op(Get, 1, buf, mem[1]+1<<17-4, 8),
			op(Get, 1, buf, mem[1]+1<<17, 8), op(Get, 1, buf, mem[1]-8, 8),
			op(Get, 1, buf, mem[1], maxCoalescedBytes+1), op(Get, 17, buf, mem[1], 8)} {
			if r.inC(&last[1], o) {
				r.wrong("bad operation %d was added", i)
			}
		}
		r.c.Between.Release()
		for _, h := range append(hdl[:], last[:]...) {
			r.must(r.Wait(h))
		}
		r.got(buf, n+maxCoalescedBytes/8)
		r.c.Between.Hold()
		r.begin(&last[0], op(Get, 1, buf, mem[1], 8))
		for range maxBatchBytes/maxCoalescedBytes + 1 { // as many bytes
			r.begin(&last[1], op(Get, 1, buf, mem[1], maxCoalescedBytes))
		}
		r.count("get", 6)
		r.c.Between.Release()
		r.must(r.Wait(last[0]))
		r.must(r.Wait(last[1]))
	})
}

// What may follow what was collected posts it before.
func TestCoalesceOrder(t *testing.T) {
	hdl := Done
	for name, next := range map[string]func(r *tr, o *Op) error{
		"blocking": func(r *tr, o *Op) error { return r.Do(o) },
		"nonblocking": func(r *tr, o *Op) error {
			o.Kind = Put
			return r.Wait(first(r.Start(o, false)))
		},
		"implicit": func(r *tr, o *Op) error { _, err := r.Start(o, true); return err },
		"large": func(r *tr, o *Op) error {
			o.Xfer.Count[0] = 4096
			return r.Wait(first(r.Start(o, false)))
		},
		"rmw": func(r *tr, o *Op) error {
			x := transport.RMW{Op: transport.FetchAdd, Bytes: 8}
			x.Addr = o.Xfer.Remote.Base
			return r.RMW(1, &x)
		},
		"fence":    func(r *tr, o *Op) error { return r.Fence(1) },
		"allfence": func(r *tr, o *Op) error { return r.AllFence() },
		"waitproc": func(r *tr, o *Op) error { return r.WaitProc(1) },
		"waitall":  func(r *tr, o *Op) error { return r.WaitAll() },
		"notify":   func(r *tr, o *Op) error { _, err := r.Notify(1); return err },
		"wait":     func(r *tr, o *Op) error { return r.Wait(hdl) },
		"test":     func(r *tr, o *Op) error { _, err := r.Test(hdl); return err },
	} {
		t.Run(name, func(t *testing.T) {
			coalesced(t, nil, func(r *tr, mem []uintptr, buf uintptr) {
				var get int32
				*long(buf + 8), *long(buf + 16) = 71, 72
				r.c.Between.Hold()
				r.begin(&get, word(Get, mem, buf, 0))
				hdl = Done
				r.begin(&hdl, word(Put, mem, buf, 1))
				if !r.begin(&hdl, word(Put, mem, buf, 2)) {
					r.wrong("a put behind a get was not collected")
				}
				r.count("put", 0)
				r.c.Between.Release()
				r.must(next(r, op(Get, 1, buf+4096, mem[1]+4096, 8)))
				if n := r.c.Between.Count("put vector"); n != 1 {
					r.wrong("%d vectors were put", n)
				}
				for _, h := range []int32{get, hdl} {
					r.must(r.Wait(h))
				}
				r.must(r.WaitAll())
				r.must(r.Fence(1))
				if *long(mem[1] + 8) != 71 || *long(mem[1] + 16) != 72 {
					r.wrong("%v", memory(mem[1], 24))
				}
			})
		})
	}
}

func first(id int32, err error) int32 {
	if err != nil {
		panic(err)
	}
	return id
}

// Handles that are used for several calls, and calls without one.
func TestCoalesceHandles(t *testing.T) {
	coalesced(t, nil, func(r *tr, mem []uintptr, buf uintptr) {
		for round := range 3 {
			r.c.Between.Hold()
			one, two, fast := Done, int32(12345), 0
			for i := range 40 {
				hdl := []*int32{&one, &one, &two, nil}[(i/5+round)%4]
				if r.begin(hdl, word(Get, mem, buf, i)) {
					fast++
				}
			}
			if fast < 20 {
				r.wrong("%d of 40 operations took C alone", fast)
			}
			r.c.Between.Release()
			r.must(r.Wait(two))
			r.must(r.WaitProc(1))
			for done := false; !done; {
				var err error
				done, err = r.Test(one)
				r.must(err)
			}
			r.got(buf, 40)
			clear(memory(buf, 320))
		}
	})
}
