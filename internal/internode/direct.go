// SPDX-License-Identifier: BSD-3-Clause

// Transfers by the device: the origin's, which reads and writes the target's memory without its
// help, or the target's, which writes a get's rows into the origin's memory (paper 000's
// host-assisted zero copy, for networks whose reads are slow).
package internode

import (
	"errors"
	"fmt"
	"slices"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// move writes or reads a whole transfer. Without a request local memory is the caller's again when
// this returns. ErrNotNative: it has to travel by frames. The caller has the lock.
func (g *target) move(f *transfer, r *request) error {
	if err := g.settle(); err != nil {
		return err
	}
	first, lend, after := 0, 0, int64(0)
	var within transport.Span
	switch {
	case r == nil:
		// it is copied, and so short that another request takes longer than to copy all of
		// it first
		first = int(f.left.Left())
	case f.left.Left() > undivided && g.t.direct.Here(f.firstLocal()) == nil:
		// it may be copied
		c := g.costs(false) // which may measure, with transfers of its own
		first, lend = c.first(), c.lendFrom()
		if f.x.Vector == nil { // segments may be anywhere
			within.Lo, within.Hi = f.span(0)
			after = c.lendAfter(int64(within.Hi - within.Lo))
		}
	}
	x := &g.transfer
	*x = transport.Transfer{Local: &f.left, Remote: &f.right, Key: g.keyOf, Copied: r == nil,
		LendFrom: lend, LendAfter: after, Within: within, FirstChunk: first}
	if r != nil {
		x.Done = r
	}
	if f.h.kind == kindGet {
		return g.deviceError(g.direct.Read(x))
	}
	return g.deviceError(g.direct.Write(x))
}

// deviceError is an error of a direct transfer: what is not about the memory is the end of the
// connection.
func (g *target) deviceError(err error) error {
	if err == nil || errors.Is(err, transport.ErrNotNative) ||
		errors.Is(err, transport.ErrBadAddr) {
		return err
	}
	return g.failPosting(err)
}

// undivided is how much is not worth more than one chunk, nor asking the cost model.
const undivided = 2 << 10

// settle makes sure that stores by frames have taken effect before the device is at the memory. The
// caller has the lock.
func (g *target) settle() error {
	number := g.stored
	if g.reached(number) {
		return nil
	}
	if err := g.askFence(number); err != nil {
		return err
	}
	return g.await(func() bool { return g.reached(number) })
}

// accumulate is done by the origin's device if that is set and possible, else by the server.
func (g *target) accumulate(f *transfer, nbytes int64) (*request, error) {
	if a, ok := g.ep.(transport.DeviceAccumulator); ok && g.t.opt.DeviceAcc {
		if err := g.settle(); err != nil {
			return nil, err
		}
		x := transport.Transfer{Local: &f.left, Remote: &f.right, Key: g.keyOf,
			Copied: true}
		scale := f.scale // C is not to see f, which has Go pointers
		done, err := a.Accumulate(&x, transport.Scale{Type: int(f.h.what),
			Value: pointerTo(scale[:])})
		err = g.deviceError(err)
		if done || err != nil {
			return g.untold(f, nil, err)
		}
		f.begin()
	}
	return nil, g.byFrames(f, nbytes, nil)
}

// pull asks for a get's data to be written into local memory by the target. desc describes the
// target's memory, the body the origin's, arg is the key of that.
func (g *target) pull(f *transfer, r *request) error {
	there, end := f.span(1)
	if g.sharedAt(there) != nil || g.sharedAt(end-1) != nil {
		// only an origin's device may read it
		return g.move(f, r)
	}
	lo, hi := f.span(0)
	key, release, ok := g.t.direct.Lend(lo, hi)
	if !ok {
		return transport.ErrNotNative
	}
	r.release = release
	for _, at := range []uintptr{there, end - 1} { // the target's device must reach it
		if _, err := g.key(at, nil); err != nil {
			return err
		}
	}
	r.want = kindPushed
	g.chunk.scale = nil
	l := g.limits(true, 0)
	l.data, l.desc, l.flat = mostPushed, l.desc/2-headerBytes, true
	for f.right.Left() > 0 {
		if err := g.credit(); err != nil {
			return err
		}
		own := g.chunkBoth(f, l)
		g.held = own
		h := f.h
		h.kind, h.arg = kindPush, key
		var body kernel.Cursor
		body.SetContiguous(addressOf(own), int64(len(own)))
		if err := g.send(r, &h, &g.chunk, &body, int64(len(own)),
			transport.Now); err != nil {
			return err
		}
	}
	return nil
}

// chunkBoth describes as much as fits of both sides: the target's in g.chunk, the origin's in what
// it returns.
func (g *target) chunkBoth(f *transfer, l limits) []byte {
	there, here := f.right, f.left
	g.chunk.take(&there, l, 1)
	l.data = g.chunk.bytes
	g.own.take(&here, l, 1)
	if l.data = g.own.bytes; l.data < g.chunk.bytes { // its descriptor was full
		there = f.right
		g.chunk.take(&there, l, 1)
	}
	f.right, f.left = there, here
	own := header{addr: g.own.addr, bytes: uint64(g.own.bytes), flags: g.own.flags,
		desc: uint32(len(g.own.desc))}
	return append(own.append(nil), g.own.desc...)
}

// mostPushed bounds what one frame asks for.
const mostPushed = 1 << 30

// span is the memory between the first and the last byte of a side of a transfer: 0 local, 1
// remote.
func (f *transfer) span(side int) (lo, hi uintptr) {
	if x := f.x; x.Vector == nil {
		s := [2]transport.Section{x.Local, x.Remote}[side]
		_, from, to := kernel.Extent(s.Stride[:x.Levels()], x.Count)
		return s.Base + uintptr(from), s.Base + uintptr(to)
	}
	lo = ^uintptr(0)
	for _, g := range f.list[side] {
		lo, hi = min(lo, slices.Min(g.Addrs)), max(hi, slices.Max(g.Addrs)+uintptr(g.Bytes))
	}
	return lo, hi
}

// push writes the rows of a get into the origin's memory.
func (o *origin) push() error {
	c := o.c
	var to header
	rest, err := to.decode(c.there)
	if err == nil && (int(to.desc) != len(rest) || to.bytes != c.h.bytes) {
		err = errDesc
	}
	if err == nil {
		err = c.other.decode(&to, rest)
	}
	if err != nil || o.direct == nil {
		return fmt.Errorf("%w: a push: %v", errProtocol, err)
	}
	c.other.set(&c.to, &to)
	done := &pushed{o: o, c: c}
	done.Add(1)
	// the origin's device checks it
	there := transport.Range{Lo: 0, Hi: 1 << 62, Key: c.h.arg, Direct: true}
	err = o.direct.Write(&transport.Transfer{Local: &c.at, Remote: &c.to, Done: done,
		Key: func(uintptr, func()) (*transport.Range, error) { return &there, nil }})
	o.c = nil // until done
	done.Done(err)
	return nil
}

// pushed is told of the writes of a push.
type pushed struct {
	parts
	o *origin
	c *context
}

// Done ends a write. With the last one the origin learns that its data is there.
func (p *pushed) Done(err error) {
	if !p.end(err) {
		return
	}
	h := &p.c.h
	if err = p.failure(); err != nil {
		p.o.refuse(h, int64(h.bytes), whySense, err.Error())
	} else {
		p.o.post(&header{kind: kindPushed, id: h.id}, nil)
	}
	contexts.Put(p.c)
}
