// SPDX-License-Identifier: BSD-3-Clause

// Several nonblocking operations under one explicit handle: of any kinds, to several ranks, failed
// ones among them.
package core

import (
	"errors"
	"testing"

	"libarmci/internal/transport"
)

// under starts an operation under a handle.
func (r *tr) under(hdl *int32, o *Op) {
	content, err := r.StartUnder(*hdl, o)
	r.must(err)
	*hdl = content
}

// A wait for a handle completes all operations under it, and only those.
func TestSharedHandle(t *testing.T) {
	world(t, 2, func(r *tr) {
		mem, buf := r.alloc(512), r.local(512)
		if r.Me == 0 {
			for i := range uintptr(16) {
				*long(buf + 8*i), *long(buf + 256 + 8*i) = int64(i)+1, 0
			}
			r.c.Net.Hold()
			hdl := Done
			for i := range 16 {
				at := 8 * uintptr(i)
				r.under(&hdl, op(Put, i%2, buf+at, mem[i%2]+at, 8))
			}
			if done, err := r.Test(hdl); done || err != nil || r.open() != 1 {
				r.wrong("Test: %v %v, %d handles open", done, err, r.open())
			}
			r.c.Net.Release()
			r.must(r.Wait(hdl))
			for i := range 16 { // with the number of a handle that is complete
				at := 8 * uintptr(i)
				r.under(&hdl, op(Get, i%2, buf+256+at, mem[i%2]+at, 8))
			}
			for done := false; !done; {
				var err error
				done, err = r.Test(hdl)
				r.must(err)
			}
			for i := range uintptr(16) {
				if *long(buf + 256 + 8*i) != int64(i)+1 {
					r.wrong("word %d is %d", i, *long(buf + 256 + 8*i))
				}
			}
			if r.open() != 0 || r.handleTable.explicitCount.Load() != 0 {
				r.wrong("%d handles open, C sees %d", r.open(),
					r.handleTable.explicitCount.Load())
			}
		}
		r.barrier()
	})
}

// A store that is complete at once, nothing to move and a mistake leave what is open under the
// handle.
func TestHandleStaysOpen(t *testing.T) {
	apart.run(t, nil, func(r *tr) {
		mem, buf := r.alloc(4096), r.local(4096)
		if r.Me == 0 {
			*long(buf), *long(buf + 512) = 7, 0
			r.must(r.Do(op(Put, 1, buf, mem[1], 8)))
			hdl := Done
			r.under(&hdl, op(Get, 1, buf+512, mem[1], 512))
			id := hdl
			r.under(&hdl, op(Put, 1, buf, mem[1]+1024, 8))
			r.under(&hdl, op(Put, 0, buf, mem[0], 8))
			r.under(&hdl, strided(Put, 1, buf, mem[1], 8, 0, 32))
			if _, err := r.StartUnder(hdl, op(Put, 2, buf, mem[1], 8)); err == nil {
				r.wrong("rank 2 was accepted")
			}
			if hdl != id || id == Done {
				r.wrong("the handle has become %d from %d", hdl, id)
			}
			r.must(r.Wait(hdl))
			if *long(buf + 512) != 7 || r.open() != 0 {
				r.wrong("read %d, %d open", *long(buf + 512), r.open())
			}
			r.under(&hdl, op(Put, 1, buf, mem[1]+1024, 8))
			if hdl != Done {
				r.wrong("%d instead of a finished handle", hdl)
			}
		}
		r.barrier()
	})
}

// The first error comes out of the wait or test, once; it does not hide that others are still open.
func TestSharedHandleError(t *testing.T) {
	for fails := range 4 {
		n := 0
		later := func(what string, _ transport.Peer) error {
			if n++; what == "get" && n == fails+1 {
				return transport.ErrNoMemory
			}
			return nil
		}
		worldOf(t, 1, flaky(nil, later), func(r *tr) {
			mem, buf := r.alloc(64), r.local(64)
			hdl := Done
			for i := range uintptr(4) {
				r.under(&hdl, op(Get, 0, buf+8*i, mem[0], 8))
			}
			var err error
			for done := false; !done && fails%2 == 0; {
				done, err = r.Test(hdl)
			}
			if fails%2 != 0 {
				err = r.Wait(hdl)
			}
			if !errors.Is(err, transport.ErrNoMemory) {
				r.wrong("operation %d failed: %v", fails, err)
			}
			if err := r.Wait(hdl); err != nil || r.open() != 0 {
				r.wrong("again: %v, %d open", err, r.open())
			}
		})
	}
}

// failing is a wire on which the third operation fails, and everything is complete at once.
type failing struct {
	transport.Transport
	n *int
}

func (f failing) Put(_ transport.Peer, x *transport.Xfer) error {
	if *f.n++; *f.n == 3 {
		x.Finish(transport.ErrNoMemory)
	} else {
		x.Finish(nil)
	}
	return nil
}

// A handle without a waiter does not grow, and does not forget an error.
func TestUsedForLong(t *testing.T) {
	apart.run(t, nil, func(r *tr) {
		mem, buf := r.alloc(4096), r.local(4096)
		if r.Me == 0 {
			to, n := r.internode, 0
			r.internode.tr = failing{to.tr, &n}
			hdl := Done
			for range 1000 {
				r.under(&hdl, op(Put, 1, buf, mem[1], 1024))
			}
			if p := r.handleTable.firstOfHandle[hdl]; p == nil ||
				p.nextOfHandle != nil ||
				p.lastOfHandle != p {
				r.wrong("more than one operation is kept")
			}
			if err := r.Wait(hdl); !errors.Is(err, transport.ErrNoMemory) ||
				n != 1000 || r.open() != 0 {
				r.wrong("%v after %d operations, %d open", err, n, r.open())
			}
			r.internode = to
		}
		r.barrier()
	})
}
