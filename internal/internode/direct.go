// SPDX-License-Identifier: BSD-3-Clause

// Transfers by a device. The origin's device reads and writes the target's memory without the
// target's help. Or the target's device writes the rows of a get into the origin's memory
// (host-assisted zero copy, Nieplocha et al. 2006, for networks with slow reads).
package internode

import (
	"errors"
	"fmt"
	"slices"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// postDirect writes or reads the whole transfer by the device. Without a request local memory may
// be reused when it returns. ErrNotNative: the transfer must travel by frames. The caller holds the
// target's mu.
func (f *transfer) postDirect(g *target, r *request) error {
	if err := g.awaitStores(g.tx.lastStore); err != nil {
		return err
	}
	first, lend, after := 0, 0, int64(0)
	var within transport.Span
	switch {
	case r == nil:
		// it is copied, and so short that to copy all of it first takes less time than
		// another request
		first = int(f.local.Left())
	case f.local.Left() > maxUndivided && g.t.direct.LocalRange(f.firstLocalAddr()) == nil:
		// memory that is not registered may be copied
		c := g.costModel(false) // may measure, with transfers of its own
		first, lend = c.firstPiece(), c.registerFrom()
		if f.xfer.Vector == nil { // the segments of a vector may be anywhere
			within.Lo, within.Hi = f.extent(0)
			after = c.registerAfter(int64(within.Hi - within.Lo))
		}
	}
	x := &g.tx.buf.deviceXfer
	*x = transport.Transfer{Local: &f.local, Remote: &f.remote, Key: g.tx.buf.lookupKey,
		Copied:   r == nil,
		LendFrom: lend, LendAfter: after, Within: within, FirstChunk: first}
	if r != nil {
		x.Done = r
	}
	if f.h.kind == kindGet {
		return g.checkDeviceError(g.tx.direct.Read(x))
	}
	return g.checkDeviceError(g.tx.direct.Write(x))
}

// checkDeviceError marks the target as lost if a direct transfer has failed for a reason other than
// its memory. It returns the error for the caller, which holds mu.
func (g *target) checkDeviceError(err error) error {
	if err == nil || errors.Is(err, transport.ErrNotNative) ||
		errors.Is(err, transport.ErrBadAddr) {
		return err
	}
	return g.failAfterReading(err)
}

// maxUndivided is the most bytes that are not worth a second chunk, nor asking the cost model.
const maxUndivided = 2 << 10

// awaitStores waits until stores by frames, up to one of this number, have taken effect, before the
// device may access the memory. The caller holds mu.
func (g *target) awaitStores(number uint64) error {
	if g.hasHandled(number) {
		return nil
	}
	if err := g.requestAck(number); err != nil {
		return err
	}
	return g.awaitLocked(func() bool { return g.hasHandled(number) })
}

// postAccumulate has the origin's device accumulate if that is set and possible, else the server.
// The caller holds the target's mu.
func (f *transfer) postAccumulate(g *target, nbytes int64) (*request, error) {
	if a, ok := g.tx.ep.(transport.DeviceAccumulator); ok && g.t.opt.DeviceAcc {
		if err := g.awaitStores(max(g.tx.lastStore, g.tx.lastUpdate)); err != nil {
			return nil, err
		}
		x := transport.Transfer{Local: &f.local, Remote: &f.remote, Key: g.tx.buf.lookupKey,
			Copied: true}
		typ, _ := kernel.AccOfElement(kernel.UpdateType(f.h.what))
		scale := f.operandOf // C must not see f, which has Go pointers
		done, err := a.Accumulate(&x, transport.Scale{Type: int(typ),
			Value: pointerTo(scale[:])})
		err = g.checkDeviceError(err)
		if done || err != nil {
			return f.deferRefusal(g, nil, err)
		}
		f.rewind()
	}
	return nil, f.postFrames(g, nbytes, nil)
}

// requestPush asks the target's device to write the data of a get into local memory. The frame's
// descriptor is of the target's memory, its body of the origin's, and arg is the key of that. The
// caller holds the target's mu.
func (f *transfer) requestPush(g *target, r *request) error {
	there, end := f.extent(1)
	if g.tx.findShared(there) != nil || g.tx.findShared(end-1) != nil {
		// shared memory: only an origin's device may read it
		return f.postDirect(g, r)
	}
	lo, hi := f.extent(0)
	key, release, ok := g.t.direct.RegisterTemporarily(lo, hi)
	if !ok {
		return transport.ErrNotNative
	}
	r.endLending = release
	for _, at := range []uintptr{there, end - 1} { // the target's device must reach both
		if _, err := g.lookupKey(at, nil); err != nil {
			return err
		}
	}
	r.wantKind = kindPushed
	g.tx.buf.chunk.operand = nil
	l := g.frameLimits(true, 0)
	l.data, l.desc, l.flat = maxPushed, l.desc/2-headerBytes, true
	for f.remote.Left() > 0 {
		if err := g.acquireCredit(); err != nil {
			return err
		}
		own := f.describeBoth(g, l)
		g.tx.buf.keepAlive = own
		h := f.h
		h.kind, h.arg = kindPush, key
		var body kernel.Cursor
		body.SetContiguous(addressOf(own), int64(len(own)))
		if err := g.sendFrame(r, &h, &g.tx.buf.chunk, &body, int64(len(own)),
			transport.Now); err != nil {
			return err
		}
	}
	return nil
}

// describeBoth describes as much as fits of both sides: the target's in tx.buf.chunk, the origin's
// in the bytes that it returns. The caller holds the target's mu.
func (f *transfer) describeBoth(g *target, l frameLimits) []byte {
	there, here := f.remote, f.local
	g.tx.buf.chunk.describeNext(&there, l, 1)
	l.data = g.tx.buf.chunk.bytes
	g.tx.buf.localChunk.describeNext(&here, l, 1)
	if l.data = g.tx.buf.localChunk.bytes; l.data < g.tx.buf.chunk.bytes {
		// the local descriptor was full
		there = f.remote
		g.tx.buf.chunk.describeNext(&there, l, 1)
	}
	f.remote, f.local = there, here
	own := header{addr: g.tx.buf.localChunk.addr, bytes: uint64(g.tx.buf.localChunk.bytes),
		flags: g.tx.buf.localChunk.flags,
		desc:  uint32(len(g.tx.buf.localChunk.desc))}
	return append(own.append(nil), g.tx.buf.localChunk.desc...)
}

// maxPushed bounds the bytes that one frame asks for.
const maxPushed = 1 << 30

// extent returns the memory from the first to the last byte of a side: 0 is local, 1 is remote.
func (f *transfer) extent(side int) (lo, hi uintptr) {
	if x := f.xfer; x.Vector == nil {
		s := [2]transport.Section{x.Local, x.Remote}[side]
		_, from, to := kernel.Extent(s.Stride[:x.Levels()], x.Count)
		return s.Base + uintptr(from), s.Base + uintptr(to)
	}
	lo = ^uintptr(0)
	for _, g := range f.vectors[side] {
		lo, hi = min(lo, slices.Min(g.Addrs)), max(hi, slices.Max(g.Addrs)+uintptr(g.Bytes))
	}
	return lo, hi
}

// writePush writes the rows of a get into the origin's memory. The frame context is freed with the
// last write.
func (o *origin) writePush() error {
	c := o.frame
	var to header
	rest, err := to.decode(c.originDesc)
	if err == nil && (int(to.desc) != len(rest) || to.bytes != c.h.bytes) {
		err = errDesc
	}
	if err == nil {
		err = c.originLayout.decode(&to, rest)
	}
	if err != nil || o.direct == nil {
		return fmt.Errorf("%w: a push: %v", errProtocol, err)
	}
	c.originLayout.setCursor(&c.dest, &to)
	done := &pushCompletion{origin: o, frame: c}
	done.AddParts(1)
	// the origin's device checks the address
	there := transport.Range{Lo: 0, Hi: 1 << 62, Key: c.h.arg, Direct: true}
	err = o.direct.Write(&transport.Transfer{Local: &c.memory, Remote: &c.dest, Done: done,
		Key: func(uintptr, func()) (*transport.Range, error) { return &there, nil }})
	o.frame = nil // done frees it
	done.CompletePart(err)
	return nil
}

// pushCompletion counts the writes of a push.
type pushCompletion struct {
	completion
	origin *origin
	frame  *frameContext
}

// CompletePart ends a write. With the last one the origin learns that its data is there.
func (p *pushCompletion) CompletePart(err error) {
	if !p.completePart(err) {
		return
	}
	h := &p.frame.h
	if err = p.firstError(); err != nil {
		p.origin.postRefusal(h, int64(h.bytes), whyInvalid, err.Error())
	} else {
		p.origin.postAnswer(&header{kind: kindPushed, id: h.id}, nil)
	}
	contextPool.Put(p.frame)
}
