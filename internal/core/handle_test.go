// SPDX-License-Identifier: BSD-3-Clause

// Nonblocking operations: explicit and implicit handles, waiting twice, garbage in a handle,
// several threads.
package core

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// A handle is open until its operation is complete; test and wait then release it.
func TestExplicitHandle(t *testing.T) {
	world(t, 1, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		*long(buf) = 9
		r.c.Net.Hold()
		id, err := r.Start(op(Get, 0, buf+8, mem[0], 8), false)
		r.must(err)
		if id == Done {
			r.wrong("an open operation has the handle of a finished one")
		}
		for range 3 {
			if done, err := r.Test(id); done || err != nil {
				r.wrong("Test: %v %v", done, err)
			}
		}
		r.c.Net.Release()
		r.must(r.Wait(id))
		r.must(r.Wait(id)) // twice is allowed
		if done, err := r.Test(id); !done || err != nil {
			r.wrong("Test after Wait: %v %v", done, err)
		}
	})
}

// Test says done only when it is, and then the data is there and the handle free.
func TestTest(t *testing.T) {
	world(t, 1, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		*long(mem[0]) = 4
		id, err := r.Start(op(Get, 0, buf, mem[0], 8), false)
		r.must(err)
		for done := false; !done; time.Sleep(time.Millisecond) {
			done, err = r.Test(id)
			r.must(err)
		}
		if *long(buf) != 4 || r.open() != 0 {
			r.wrong("read %d, %d open", *long(buf), r.open())
		}
	})
}

// A number that is no open operation counts as complete.
func TestGarbageHandles(t *testing.T) {
	world(t, 1, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		r.c.Net.Hold()
		id, err := r.Start(op(Put, 0, buf, mem[0], 8), false)
		r.must(err)
		for range 1000 {
			g := rand.Int32() - rand.Int32()
			if g == id {
				continue
			}
			if done, err := r.Test(g); !done || err != nil || r.Wait(g) != nil {
				r.wrong("garbage %d: %v %v", g, done, err)
			}
		}
		r.c.Net.Release()
		r.must(r.Wait(id))
	})
}

// Numbers run round without meeting the one that means done, one in use, or those of the
// C fast path.
func TestHandleNumbers(t *testing.T) {
	var h handleTable
	h.initTable()
	h.lastNumber = transport.FastImplicit - 2
	h.firstOfHandle[math.MinInt32] = &request{}
	a, b := h.addRequest(&request{}, Done), h.addRequest(&request{}, Done)
	if a != transport.FastImplicit-1 || b != math.MinInt32+1 ||
		transport.FastRequest(a) || transport.FastRequest(b) {
		t.Errorf("%d, %d", a, b)
	}
	if !transport.FastRequest(transport.FastImplicit) || !transport.FastRequest(math.MaxInt32) {
		t.Error("the upper bits of the requests of C")
	}
	h.lastNumber = -1
	if a := h.addRequest(&request{}, Done); a != 1 {
		t.Errorf("after -1 comes %d", a)
	}
	if len(h.firstOfHandle) != 4 {
		t.Errorf("%d open", len(h.firstOfHandle))
	}
}

// The arrays that describe a transfer belong to the caller again when Start has returned.
func TestDescriptorsAreCopied(t *testing.T) {
	world(t, 1, func(r *tr) {
		mem, buf := r.alloc(256), r.local(256)
		for i := range memory(buf, 64) {
			memory(buf, 64)[i] = byte(i + 1)
		}
		r.c.Net.Hold()
		s := strided(Put, 0, buf, mem[0], 8, 4, 32)
		v := vector(Put, 0, 8, []uintptr{buf}, []uintptr{mem[0] + 200})
		scale := int64(2)
		a := accOf(op(Acc, 0, buf, mem[0]+240, 8), &scale)
		ids := make([]int32, 3)
		for i, o := range []*Op{s, v, a} {
			var err error
			ids[i], err = r.Start(o, false)
			r.must(err)
		}
		s.Xfer.Count[0], s.Xfer.Count[1], s.Xfer.Local.Stride[0], s.Xfer.Remote.Stride[0] =
			1, 1, 0, 0
		v.Xfer.Vector[0].Local[0], v.Xfer.Vector[0].Remote[0] = 1, 1
		scale, *s, *v = 0, Op{}, Op{}
		r.c.Net.Release()
		for _, id := range ids {
			r.must(r.Wait(id))
		}
		r.must(r.Fence(0))
		if m := memory(mem[0], 256); m[0] != 1 || m[32] != 9 || m[96] != 25 || m[8] != 0 ||
			m[200] != 1 || m[240] != 2 {
			r.wrong("%v", m)
		}
	})
}

// WaitProc completes what is implicit and goes to that rank; explicit handles are their owner's.
func TestImplicitHandles(t *testing.T) {
	world(t, 2, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		if r.Me == 0 {
			var explicit int32
			for i := range 4 {
				_, err := r.Start(op(Get, i%2, buf+uintptr(8*i), mem[i%2], 8), true)
				r.must(err)
			}
			explicit, err := r.Start(op(Get, 1, buf+32, mem[1], 8), false)
			r.must(err)
			r.must(r.WaitProc(1))
			for _, p := range r.handleTable.implicitOps {
				if p.proc == 1 {
					r.wrong("WaitProc(1) left an operation to rank 1")
				}
			}
			if left := len(r.handleTable.implicitOps); left != 2 ||
				r.handleTable.firstOfHandle[explicit] == nil {
				r.wrong("%d implicit operations left, explicit one is %v", left,
					r.handleTable.firstOfHandle[explicit])
			}
			r.must(r.WaitAll())
			if r.open() != 1 {
				r.wrong("WaitAll left %d", r.open())
			}
			r.must(r.Wait(explicit))
			wantArg(r, "WaitProc", r.WaitProc(2), "proc", CodeProc, "rank 2")
		}
		r.barrier()
	})
}

// WaitAll also waits for an operation that another thread is waiting for already.
func TestWaitersOfOneOperation(t *testing.T) {
	world(t, 1, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		r.c.Net.Hold()
		_, err := r.Start(op(Get, 0, buf, mem[0], 8), true)
		r.must(err)
		done := make(chan error, 3)
		for range 3 {
			go func() { done <- r.WaitAll() }()
		}
		select {
		case err := <-done:
			r.wrong("WaitAll returned (%v) while the operation is open", err)
		case <-time.After(30 * time.Millisecond):
		}
		r.c.Net.Release()
		for range 3 {
			r.must(<-done)
		}
	})
}

// An error of an implicit operation comes out of the wait, once; the others complete all the same.
func TestImplicitError(t *testing.T) {
	n := 0
	later := func(what string, _ transport.Peer) error {
		if n++; what == "get" && n == 2 {
			return transport.ErrNoMemory
		}
		return nil
	}
	worldOf(t, 1, flaky(nil, later), func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		for i := range uintptr(3) {
			_, err := r.Start(op(Get, 0, buf+8*i, mem[0], 8), true)
			r.must(err)
		}
		if err := r.WaitAll(); !errors.Is(err, transport.ErrNoMemory) {
			r.wrong("%v", err)
		}
		if err := r.WaitAll(); err != nil || r.open() != 0 {
			r.wrong("again: %v, %d open", err, r.open())
		}
	})
}

// An immediate transport needs no handles.
func TestImmediate(t *testing.T) {
	worldOf(t, 1, func(c *transporttest.Cluster) {
		c.Wrap = func(_ int,
			t transport.Transport) transport.Transport {
			return immediate{t}
		}
	}, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		*long(mem[0]) = 3
		if id, err := r.Start(op(Get, 0, buf, mem[0], 8), true); id != Done || err != nil ||
			*long(buf) != 3 {
			r.wrong("%d, %v, read %d", id, err, *long(buf))
		}
	})
}

// immediate waits inside every call.
type immediate struct{ transport.Transport }

func (i immediate) Info() transport.Info {
	info := i.Transport.Info()
	info.Immediate = true
	return info
}

// Get returns when the data has arrived.
func (i immediate) Get(p transport.Peer, x *transport.Xfer) error {
	done := make(chan error, 1)
	c := *x
	c.Done = func(err error) { done <- err }
	if err := i.Transport.Get(p, &c); err != nil {
		return err
	}
	err := <-done
	x.Finish(err)
	return err
}
