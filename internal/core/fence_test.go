// SPDX-License-Identifier: BSD-3-Clause

// Fences: after one, stores of this rank are visible to all ranks, also to those that read memory
// without the transport.
package core

import (
	"errors"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// A blocking put may return before its data are at the target: only the fence brings them there.
func TestFence(t *testing.T) {
	world(t, 3, func(r *tr) {
		mem, buf := r.alloc(8*3*50), r.local(8)
		for i := range uintptr(50) {
			for to := range 3 {
				*long(buf) = int64(i + 1)
				at := mem[to] + (i*3+uintptr(r.Me))*8
				r.must(r.Do(op(Put, to, buf, at, 8)))
				if i%3 == 0 {
					r.must(r.Fence(to))
					if got := *long(at); got != int64(i+1) {
						r.wrong("after a fence to %d the word is %d", to,
							got)
					}
				}
			}
			if i%3 == 1 {
				r.must(r.AllFence())
			} else if i%3 == 2 {
				r.must(r.GroupFence(r.group(World)))
			}
			r.barrier()
			if i%3 == 0 {
				continue
			}
			for from := range uintptr(3) {
				if got := *long(mem[r.Me] + (i*3+from)*8); got != int64(i+1) {
					r.wrong("round %d: the word of rank %d is %d", i, from, got)
				}
			}
		}
		wantArg(r, "Fence", r.Fence(-1), "proc", CodeProc, "rank -1")
	})
}

// A fence completes implicit operations to its rank first.
func TestFenceWaitsForImplicit(t *testing.T) {
	world(t, 2, func(r *tr) {
		mem, buf := r.alloc(8), r.local(8)
		if r.Me == 0 {
			*long(buf) = 4
			r.c.Net.Hold()
			_, err := r.Start(op(Put, 1, buf, mem[1], 8), true)
			r.must(err)
			fenced := make(chan error, 1)
			go func() { fenced <- r.Fence(1) }()
			r.must(r.Fence(0)) // which has nothing outstanding
			select {
			case err := <-fenced:
				r.wrong("the fence returned (%v) while a put is open", err)
			case <-time.After(20 * time.Millisecond):
			}
			r.c.Net.Release()
			r.must(<-fenced)
			if r.open() != 0 {
				r.wrong("%d implicit operations are open after the fence", r.open())
			}
			if *long(mem[1]) != 4 {
				r.wrong("after the fence the word is %d", *long(mem[1]))
			}
		}
		r.barrier()
	})
}

// The error of a fence is told once; the next one has nothing outstanding.
func TestFenceErrors(t *testing.T) {
	failing := false
	worldOf(t, 3, flaky(func(what string, p transport.Peer) error {
		if failing && what == "fence" && p != 2 {
			return transport.ErrPeerDead
		}
		return nil
	}, nil), func(r *tr) {
		mem, buf := r.alloc(8), r.local(8)
		store := func() {
			for to := range 3 {
				r.must(r.Do(op(Put, to, buf, mem[to], 8)))
			}
		}
		r.barrier()
		if r.Me == 0 {
			store()
			failing = true
			before := r.c.Net.Count("fence")
			if err := r.AllFence(); !errors.Is(err, transport.ErrPeerDead) {
				r.wrong("AllFence: %v", err)
			}
			if n := r.c.Net.Count("fence") - before; n != 0 {
				r.wrong("%d fences reached the transport", n)
			}
			store()
			if err := r.GroupFence(r.group(World)); !errors.Is(err,
				transport.ErrPeerDead) {
				r.wrong("GroupFence: %v", err)
			}
			if err := r.AllFence(); err != nil {
				r.wrong("again: %v", err)
			}
			failing = false
		}
		r.barrier()
	})
}
