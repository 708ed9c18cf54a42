// SPDX-License-Identifier: BSD-3-Clause

// Descriptors of operations, which are used again and again: none while its transport still looks
// at it.
package core

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// careful holds a descriptor to the promise that it stays as it is until Done.
type careful struct {
	transport.Transport
	r *testing.T
}

// watch reports a change of a transfer's descriptors before the transfer is complete.
func (c careful) watch(x *transport.Xfer) {
	done := x.Done
	x.Done = nil
	was := fmt.Sprintf("%+v", x)
	x.Done = func(err error) {
		x.Done = nil
		if now := fmt.Sprintf("%+v", x); now != was {
			c.r.Errorf("a transfer was %s and is %s before it is complete", was, now)
		}
		x.Done = done
		x.Finish(err)
	}
}

func (c careful) Put(p transport.Peer, x *transport.Xfer) error {
	c.watch(x)
	return c.Transport.Put(p, x)
}

func (c careful) Get(p transport.Peer, x *transport.Xfer) error {
	c.watch(x)
	return c.Transport.Get(p, x)
}

// Descriptors are used again only when no thread reads them, whichever thread waits: several
// threads start and wait for all.
func TestDescriptorsAreUsedAgain(t *testing.T) {
	worldOf(t, 1, func(c *transporttest.Cluster) {
		c.Opts.Pause = 5 * time.Microsecond
		c.Wrap = func(_ int,
			tr transport.Transport) transport.Transport {
			return careful{tr, t}
		}
	}, func(r *tr) {
		const threads, part, rounds = 4, 512, 150
		mem, buf := r.alloc(threads*part), r.local(threads*part)
		var running sync.WaitGroup
		for i := range uintptr(threads) {
			running.Go(func() {
				r.roundTrips(rand.New(rand.NewPCG(5, uint64(i))),
					buf+i*part, mem[0]+i*part, rounds)
			})
		}
		running.Wait()
		if r.open() != 0 {
			r.wrong("%d operations are open", r.open())
		}
	})
}

// roundTrips puts eight bytes and gets them back in the shapes there are, waiting in the ways there
// are.
func (r *tr) roundTrips(g *rand.Rand, local, remote uintptr, n int) {
	for i := range n {
		*long(local), *long(local + 64) = int64(i), -1
		for _, kind := range []Kind{Put, Get} {
			from := local + 64*uintptr(kind)
			o := NewOp()
			switch g.IntN(3) {
			case 0:
				*o = *op(kind, 0, from, remote, 8)
			case 1:
				*o = *strided(kind, 0, from, remote, 4, 2, 4)
			case 2:
				*o = *vector(kind, 0, 4, []uintptr{from + 4, from},
					[]uintptr{remote + 4, remote})
			}
			r.complete(o, g.IntN(4))
		}
		if got := *long(local + 64); got != int64(i) {
			r.wrong("%d came back as %d", i, got)
			return
		}
	}
}

// complete executes an operation: blocking, implicit, by a handle, or by tests of a handle.
func (r *tr) complete(o *Op, how int) {
	if how == 0 {
		r.must(r.Do(o))
		o.Release()
		return
	}
	id, err := r.Start(o, how == 1)
	r.must(err)
	o.Release()
	switch done := false; how {
	case 1:
		r.must(r.WaitAll())
	case 2:
		r.must(r.Wait(id))
	default:
		for ; !done; runtime.Gosched() {
			done, err = r.Test(id)
			r.must(err)
		}
	}
}
