// SPDX-License-Identifier: BSD-3-Clause

// Transfers by frames to the node's data server: all of them where the fabric has no direct
// transfers; else accumulates, short rows, and memory that no device reaches. Data is packed at one
// side and unpacked at the other.
package internode

import (
	"math"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// frameLimits returns the limits of the frames of a transfer. It asks the cost model, which may
// have to measure. The caller holds mu.
func (g *target) frameLimits(get bool, nbytes int64) frameLimits {
	l := frameLimits{data: int64(g.tx.maxBody), desc: min(g.tx.maxBody-scaleBytes,
		maxUnboundedDesc),
		total: g.tx.maxBody - scaleBytes}
	if g.tx.direct != nil && nbytes > smallTransfer {
		l.data = min(l.data, int64(g.costModel(get).frameBytes(get, nbytes)))
	}
	if get {
		l.total = math.MaxInt
	}
	return l
}

// smallTransfer is how much one frame carries without asking the cost model. Shorter answers are
// received through a buffer, many by one system call: to copy a few KiB takes less time than a call
// for each.
const smallTransfer = 16 << 10

// postFrames sends a put or an accumulate, whose local memory may be reused when it returns, or
// asks for the data of a get, which r gets. The caller holds the target's mu.
func (f *transfer) postFrames(g *target, nbytes int64, r *request) (err error) {
	get, grain := f.h.kind == kindGet, 1
	l := g.frameLimits(get, nbytes)
	g.tx.buf.chunk.scale = nil
	switch f.h.kind {
	case kindGet:
		r.wantKind, r.dest.cursor, r.dest.bytesDue = kindData, f.local, nbytes
		if nbytes >= smallTransfer && r.dest.cursor.Row() >= int64(g.t.info.MinDirectRow) {
			r.dest.large = true
			g.requests.largeOpen.Add(1)
		}
	case kindAcc:
		grain, g.tx.buf.chunk.scale = kernel.TypeSize(kernel.Type(f.h.what)), f.scale[:]
	}
	for err == nil && f.remote.Left() > 0 {
		if err = g.acquireCredit(); err != nil {
			return err
		}
		h := f.h
		g.tx.buf.chunk.describeNext(&f.remote, l, grain)
		if get {
			err = g.sendFrame(r, &h, &g.tx.buf.chunk, nil, 0, f.frameUrgency(g, &h))
		} else {
			h.flags = g.recordStore(f.remote.Left() == 0)
			err = g.sendFrame(nil, &h, &g.tx.buf.chunk, &f.local, g.tx.buf.chunk.bytes,
				f.frameUrgency(g, &h))
		}
	}
	return err
}

// frameUrgency returns how soon a frame of the transfer must leave.
func (f *transfer) frameUrgency(g *target, h *header) transport.When {
	get := h.kind == kindGet
	switch {
	case f.xfer.Later && (!get || g.tx.poller.unattended.Load() > 1):
		return transport.Soon
	case get || h.flags&flagAck != 0:
		return transport.Now
	}
	return transport.Burst
}

// recordStore records that the frame that acquireCredit has just counted stores: fences wait for
// it, and the C fast path is closed. It returns the flags for that frame. The last frame of a
// transfer asks for an acknowledgement if callers usually fence after each one. The caller holds
// mu.
func (g *target) recordStore(last bool) (flags uint8) {
	g.tx.lastStore = g.tx.sentFrames
	g.progress.fenceFrame.Store(g.tx.sentFrames)
	g.closeFastPath()
	if !last {
		return 0
	}
	if g.tx.fences.stores++; g.tx.fences.stores > 1 {
		g.tx.fences.afterEach = false
	}
	if g.tx.fences.afterEach {
		g.tx.ackRequested, flags = g.tx.sentFrames, flagAck
	}
	return flags
}
