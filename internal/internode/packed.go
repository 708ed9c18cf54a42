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
	room := g.tx.maxBody - operandBytes
	l := frameLimits{data: int64(g.tx.maxBody), desc: min(room, maxUnboundedDesc), total: room}
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
// asks for the data of a get. Data of the target goes to r: of a get, or what an accumulate
// fetches; else r is not used. The caller holds the target's mu.
func (f *transfer) postFrames(g *target, nbytes int64, r *request) (err error) {
	if f.h.kind == kindPut {
		r = nil
	}
	l, c := g.frameLimits(f.h.kind == kindGet, nbytes), &g.tx.buf.chunk
	c.operand = f.operand
	if r != nil {
		f.expectData(g, r, nbytes)
		if f.h.kind == kindAcc {
			l.data = min(l.data, maxFetch)
		}
	}
	for err == nil && f.remote.Left() > 0 {
		if err = g.acquireCredit(); err != nil {
			return err
		}
		c.describeNext(&f.remote, l, f.grain)
		h, body, n := f.h, &f.local, c.bytes
		h.flags = f.recordFrame(g, r != nil)
		if f.sendsNothing() {
			body, n = nil, 0
		}
		err = g.sendFrame(r, &h, c, body, n, f.frameUrgency(g, h.flags, r != nil))
	}
	return err
}

// expectData prepares r for the data of a get, or for what an accumulate fetches: its cursor has
// been set. The caller holds the target's mu.
func (f *transfer) expectData(g *target, r *request, nbytes int64) {
	if f.h.kind == kindGet {
		r.dest.cursor = f.local
	}
	r.wantKind, r.dest.bytesDue = kindData, nbytes
	if nbytes >= smallTransfer && r.dest.cursor.Row() >= int64(g.t.info.MinDirectRow) {
		r.dest.large = true
		g.requests.largeOpen.Add(1)
	}
}

// sendsNothing reports whether the frames of the transfer have no body.
func (f *transfer) sendsNothing() bool {
	return f.h.kind == kindGet || f.h.kind == kindAcc && f.h.op == uint8(kernel.OpNoOp)
}

// frameUrgency returns how soon a frame with these flags must leave.
func (f *transfer) frameUrgency(g *target, flags uint8, answered bool) transport.When {
	switch {
	case f.later && (!answered || g.tx.poller.unattended.Load() > 1):
		return transport.Soon
	case answered || flags&flagAck != 0:
		return transport.Now
	}
	return transport.Burst
}

// recordFrame records the frame of the transfer that acquireCredit has just counted, and returns
// its flags. The caller holds the target's mu.
func (f *transfer) recordFrame(g *target, answered bool) (flags uint8) {
	last := f.remote.Left() == 0
	switch {
	case f.h.kind == kindGet:
		return 0
	case f.h.kind == kindPut || f.h.op == opScaledSum:
		return g.recordStore(last)
	}
	g.tx.lastUpdate = g.tx.sentFrames
	g.progress.fenceFrame.Store(g.tx.sentFrames)
	return g.tx.ackFlag(last && !answered)
}

// recordStore records that the frame that acquireCredit has just counted stores: fences wait for
// it, and the C fast path is closed. It returns the flags for that frame. The last frame of a
// transfer asks for an acknowledgement if callers usually fence after each one. The caller holds
// mu.
func (g *target) recordStore(last bool) (flags uint8) {
	g.tx.lastStore = g.tx.sentFrames
	g.progress.fenceFrame.Store(g.tx.sentFrames)
	g.closeFastPath()
	return g.tx.ackFlag(last)
}

// ackFlag returns flagAck for the last frame of a store if callers usually fence after each one.
// The caller holds the target's mu.
func (s *sendState) ackFlag(last bool) uint8 {
	if !last {
		return 0
	}
	if s.fences.stores++; s.fences.stores > 1 {
		s.fences.afterEach = false
	}
	if !s.fences.afterEach {
		return 0
	}
	s.ackRequested = s.sentFrames
	return flagAck
}
