// SPDX-License-Identifier: BSD-3-Clause

// Transfers by frames to the node's data server: all of them where the fabric has no direct
// transfers, else accumulates, short rows, and memory that no device reaches. Data is packed at one
// side and unpacked at the other.
package internode

import (
	"math"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// limits of a frame of a transfer of so many bytes. The cost model may have to measure.
func (g *target) limits(get bool, nbytes int64) limits {
	l := limits{data: int64(g.payload), desc: min(g.payload-scaleBytes, listDesc),
		both: g.payload - scaleBytes}
	if g.direct != nil && nbytes > smallTransfer {
		l.data = min(l.data, int64(g.costs(get).frame(get, nbytes)))
	}
	if get {
		l.both = math.MaxInt
	}
	return l
}

// smallTransfer is how much one frame carries without asking the cost model. Shorter answers are
// received through a buffer, many by one call of the system: to copy a few KiB takes less time than
// a call for each.
const smallTransfer = 16 << 10

// byFrames sends a put or an accumulate, whose local memory is the caller's again when it returns,
// or asks for a get's data. The caller has the lock.
func (g *target) byFrames(f *transfer, nbytes int64, r *request) (err error) {
	get, grain := f.h.kind == kindGet, 1
	l := g.limits(get, nbytes)
	g.chunk.scale = nil
	switch f.h.kind {
	case kindGet:
		r.want, r.into, r.room = kindData, f.left, nbytes
		if nbytes >= smallTransfer && r.into.Row() >= int64(g.t.info.Straight) {
			r.large = true
			g.table.large.Add(1)
		}
	case kindAcc:
		grain, g.chunk.scale = kernel.TypeSize(kernel.Type(f.h.what)), f.scale[:]
	}
	for err == nil && f.right.Left() > 0 {
		if err = g.credit(); err != nil {
			return err
		}
		h := f.h
		g.chunk.take(&f.right, l, grain)
		if get {
			err = g.send(r, &h, &g.chunk, nil, 0, g.urgency(f, &h))
		} else {
			h.flags = g.storing(f.right.Left() == 0)
			err = g.send(nil, &h, &g.chunk, &f.left, g.chunk.bytes, g.urgency(f, &h))
		}
	}
	return err
}

// urgency of a transfer's frame.
func (g *target) urgency(f *transfer, h *header) transport.When {
	get := h.kind == kindGet
	switch {
	case f.x.Later && (!get || g.poller.later.Load() > 1):
		return transport.Soon
	case get || h.flags&flagAck != 0:
		return transport.Now
	}
	return transport.Burst
}

// storing notes that the next frame stores. The last one of a transfer asks for an acknowledgement
// if callers usually fence after each transfer.
func (g *target) storing(last bool) (flags uint8) {
	g.stored = g.sent
	g.posted.Store(g.sent)
	g.dropFast()
	if !last {
		return 0
	}
	if g.stores++; g.stores > 1 {
		g.fenced = false
	}
	if g.fenced {
		g.told, flags = g.sent, flagAck
	}
	return flags
}
