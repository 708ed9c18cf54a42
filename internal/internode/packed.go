// SPDX-License-Identifier: BSD-3-Clause

// Transfers by frames to the node's data server: all of them where the fabric has no direct transfers, else accumulates,
// short rows, and memory that no device reaches. Data is packed at one side and unpacked at the other.
package internode

import (
	"math"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// limits of a frame of a transfer of so many bytes. The cost model may have to measure.
func (g *target) limits(get bool, nbytes int64) limits {
	if g.frame == 0 {
		return unbounded
	}
	l := limits{data: int64(g.frame - headerBytes), desc: min(g.frame-headerBytes-scaleBytes, listDesc),
		both: g.frame - headerBytes - scaleBytes}
	if g.direct != nil && nbytes > smallTransfer {
		l.data = min(l.data, int64(g.costs(get).frame(get, nbytes)))
	}
	if get {
		l.both = math.MaxInt
	}
	return l
}

// smallTransfer is how much one frame carries without asking the cost model.
const smallTransfer = 16 << 10

// store sends a put or an accumulate. Local memory is the caller's again when it returns. The caller has the lock.
func (g *target) store(f *transfer, nbytes int64) error {
	l, grain, scale := g.limits(false, nbytes), 1, []byte(nil)
	if f.acc {
		grain, scale = kernel.TypeSize(kernel.Type(f.h.what)), f.scale[:]
	}
	for f.right.Left() > 0 {
		if err := g.credit(); err != nil {
			return err
		}
		h := f.h
		g.chunk.take(&f.right, l, grain)
		h.addr, h.bytes, h.flags = g.chunk.addr, uint64(g.chunk.bytes), g.chunk.flags
		h.flags |= g.storing(f.right.Left() == 0)
		if err := g.send(&h, scale, g.chunk.desc, &f.left, g.chunk.bytes, f.urgency(h.flags)); err != nil {
			return err
		}
	}
	return nil
}

// urgency of a store's frame.
func (f *transfer) urgency(flags uint8) transport.When {
	switch {
	case f.x.Later:
		return transport.Soon
	case flags&flagAck != 0:
		return transport.Now
	}
	return transport.Burst
}

// sendAsked sends a frame that is answered. If it fails, so does the request.
func (g *target) sendAsked(r *request, h *header, scale, desc []byte, body *kernel.Cursor, n int64, when transport.When) error {
	r.expect()
	h.id = r.id
	err := g.send(h, scale, desc, body, n, when)
	if err == nil {
		if e := g.broken.Load(); e != nil { // whoever has failed the requests has not seen this one, perhaps
			err = *e
		}
	}
	if err != nil {
		r.answered(err)
	}
	return err
}

// storing notes that the next frame stores. The last one of a transfer asks for an acknowledgement if callers usually
// fence after each transfer.
func (g *target) storing(last bool) (flags uint8) {
	sent := g.sent.Load()
	g.stored.Store(sent)
	g.posted.Store(sent)
	g.dropFast()
	if !last {
		return 0
	}
	if g.stores++; g.stores > 1 {
		g.fenced = false
	}
	if g.fenced {
		g.told, flags = sent, flagAck
	}
	return flags
}

// largeBytes is the least data that is received straight to where it belongs.
const largeBytes = 4 << 10

// fetch asks for a get's data. The caller has the lock.
func (g *target) fetch(f *transfer, r *request, nbytes int64) error {
	r.into, r.room = f.left, nbytes
	if nbytes >= largeBytes && r.into.Row() >= int64(g.t.info.Straight) {
		r.large = true
		g.table.large.Add(1)
	}
	when := transport.Now
	if f.x.Later && g.seat.later.Load() > 1 {
		when = transport.Soon
	}
	l := g.limits(true, nbytes)
	for f.right.Left() > 0 {
		if err := g.credit(); err != nil {
			return err
		}
		h := f.h
		g.chunk.take(&f.right, l, 1)
		h.addr, h.bytes, h.flags = g.chunk.addr, uint64(g.chunk.bytes), g.chunk.flags
		if err := g.sendAsked(r, &h, nil, g.chunk.desc, nil, 0, when); err != nil {
			return err
		}
	}
	return nil
}
