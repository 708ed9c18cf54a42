// SPDX-License-Identifier: BSD-3-Clause

// Accumulates by the caller's device alone (paper 003, section 4.3): it takes the lock of a stripe of the target's memory
// by compare-and-swap, reads, adds here, writes back and gives the lock back. No process of the target is disturbed; its
// processors keep out of stripes that devices have (kernel.h). Many stripes are under way at once, since nobody waits for
// one while it keeps another from being given back.
package rdma

import (
	"encoding/binary"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

const (
	lockBytes  = 64 // a line: the processors' word, and 8 bytes behind it the devices'
	mostGuards = 16 // locks of a round
	mostParts  = chainLength - 2*mostGuards
	guardBytes = 16 // in the round's buffer, for each lock: what the devices' word was, the processors' word
)

// guard is a lock of a round.
type guard struct {
	at        uintptr // of the line
	end       uintptr // behind the last part of it
	got, done bool
}

// part is contiguous elements in one stripe.
type part struct {
	local, remote uintptr
	n             int
	key           uint32
	at            int // in the buffer
	guard         int
}

// guarded is the round of a wire: what is under way at once, with its data in one buffer.
type guarded struct {
	locks    *piece // of the node; nil before it has been asked
	guards   []guard
	parts    []part
	buffer   int32
	used     int
	requests []verbs.Request
	data     []verbs.Data
}

// accumulate adds local memory to remote memory; done is false if that is the server's to do. The caller has the lock.
func (w *wire) accumulate(x *transport.Xfer, s *transport.Scale) (done bool, err error) {
	g := &w.guarded
	if g.locks == nil {
		list, err := w.pieces(&header{kind: kindLocks})
		if err != nil {
			return false, err
		}
		g.locks = &piece{}
		if len(list) == 1 {
			g.locks = &list[0]
		}
	}
	grain := kernel.TypeSize(kernel.Type(s.Type))
	if !g.locks.direct {
		return false, nil
	}
	if ok, err := w.reaches(x, grain); !ok || err != nil {
		return false, err
	}
	if err := w.settle(); err != nil {
		return false, err
	}
	for r := runsOf(x); r.left > 0; {
		if g.buffer, err = w.buffer(); err != nil {
			return false, err
		}
		w.fill(&r, grain)
		if err := w.round(s); err != nil {
			return false, err
		}
	}
	return true, nil
}

// reaches tells whether the device can be at every element.
func (w *wire) reaches(x *transport.Xfer, grain int) (bool, error) {
	for r := runsOf(x); r.left > 0; {
		_, remote, n := r.peek()
		far, err := w.key(remote, nil, nil)
		if err == errPacked {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		n = min(n, int(far.hi-remote)/grain*grain)
		if n == 0 {
			return false, nil // an element in two pieces
		}
		r.advance(n)
	}
	return true, nil
}

// fill takes as many parts as go into one round.
func (w *wire) fill(r *runs, grain int) {
	g := &w.guarded
	g.guards, g.parts, g.used = g.guards[:0], g.parts[:0], mostGuards*guardBytes
	for r.left > 0 && len(g.parts) < mostParts {
		local, remote, n := r.peek()
		far := w.keys.find(remote)
		n = min(n, int(far.hi-remote), inStripe(remote, grain), w.c.out.size-g.used) / grain * grain
		i := g.guard(remote, n)
		if n == 0 || i < 0 {
			return
		}
		g.parts = append(g.parts, part{local, remote, n, far.key, g.used, i})
		g.used += n
		r.advance(n)
	}
}

// inStripe is the bytes of the elements from an address on that begin in its stripe.
func inStripe(addr uintptr, grain int) int {
	const stripe = 1 << kernel.StripeShift
	room := stripe - int(addr&(stripe-1))
	return (room + grain - 1) / grain * grain
}

// guard finds the lock for n bytes; -1 if they have to wait for the next round. No element is twice in a round.
func (g *guarded) guard(addr uintptr, n int) int {
	stripes := (g.locks.hi - g.locks.lo) / lockBytes
	at := g.locks.lo + (addr>>kernel.StripeShift)%stripes*lockBytes
	for i := range g.guards {
		if l := &g.guards[i]; l.at == at {
			if addr < l.end {
				return -1
			}
			l.end = addr + uintptr(n)
			return i
		}
	}
	if len(g.guards) == mostGuards {
		return -1
	}
	g.guards = append(g.guards, guard{at: at, end: addr + uintptr(n)})
	return len(g.guards) - 1
}

// round carries the parts out. It keeps trying the locks that others have; of those it has got it waits for processors
// that were there before, which wait for nothing.
func (w *wire) round(s *transport.Scale) error {
	g := &w.guarded
	for tries, left := 0, len(g.guards); ; tries++ {
		w.claims()
		if err := w.together(); err != nil {
			return err
		}
		left -= w.write(s)
		if left == 0 { // the buffer comes back when all has been written
			return w.ship(&shipment{buffer: g.buffer}, g.requests, g.data)
		}
		if len(g.requests) > 0 {
			if err := w.together(); err != nil {
				return err
			}
		}
		pause(tries)
	}
}

// pause is longer the more often something was tried.
func pause(tries int) {
	if tries < 8 {
		yield()
		return
	}
	time.Sleep(min(time.Millisecond, time.Microsecond<<min(tries-8, 10)))
}

// together posts the requests and waits until they are complete.
func (w *wire) together() error {
	g := &w.guarded
	o := newOp(nil)
	err := w.ship(&shipment{op: o, buffer: none}, g.requests, g.data)
	o.part(err)
	w.c.await(o.ended.Load)
	return o.err
}

// request appends one, whose data is n bytes of the buffer.
func (g *guarded) request(c *client, q verbs.Request, at, n int) {
	q.Pieces = 1
	g.requests = append(g.requests, q)
	g.data = append(g.data, c.out.data(g.buffer, at, n))
}

// claims asks for the locks that this round does not have yet, and reads what is theirs.
func (w *wire) claims() {
	g := &w.guarded
	g.requests, g.data = g.requests[:0], g.data[:0]
	for i := range g.guards {
		l := &g.guards[i]
		if l.done {
			continue
		}
		if !l.got {
			g.request(w.c, verbs.Request{Remote: uint64(l.at) + kernel.DeviceWord, Key: g.locks.key, Op: verbs.CompareSwap,
				Swap: w.name()}, i*guardBytes, 8)
		}
		g.request(w.c, verbs.Request{Remote: uint64(l.at), Key: g.locks.key, Op: verbs.Read}, i*guardBytes+8, 8)
		for k := range g.parts {
			if p := &g.parts[k]; p.guard == i {
				g.request(w.c, verbs.Request{Remote: uint64(p.remote), Key: p.key, Op: verbs.Read}, p.at, p.n)
			}
		}
	}
}

// name is what a lock holds while it is this process's.
func (w *wire) name() uint64 { return uint64(w.t.opt.Me) + 1 }

// write adds where the locks are this round's and no processor is there, and prepares to write that back and to give the
// locks back: so many.
func (w *wire) write(s *transport.Scale) (locks int) {
	g := &w.guarded
	g.requests, g.data = g.requests[:0], g.data[:0]
	b := w.c.out.bytes(g.buffer)
	for i := range g.guards {
		l := &g.guards[i]
		if l.done {
			continue
		}
		old, processor := binary.NativeEndian.Uint64(b[i*guardBytes:]), binary.NativeEndian.Uint32(b[i*guardBytes+8:])
		l.got = l.got || old == 0
		if !l.got || processor != 0 {
			continue
		}
		l.done = true
		locks++
		for k := range g.parts {
			if p := &g.parts[k]; p.guard == i {
				kernel.AccRaw(kernel.Type(s.Type), s.Value, unsafe.Pointer(&b[p.at]), kernel.Ptr(p.local), p.n)
				g.request(w.c, verbs.Request{Remote: uint64(p.remote), Key: p.key, Op: verbs.Write}, p.at, p.n)
			}
		}
		g.request(w.c, verbs.Request{Remote: uint64(l.at) + kernel.DeviceWord, Key: g.locks.key, Op: verbs.CompareSwap,
			Operand: w.name()}, i*guardBytes, 8)
	}
	return locks
}
