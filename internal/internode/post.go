// SPDX-License-Identifier: BSD-3-Clause

// Put, get and accumulate: the protocol of a transfer, and when it is complete. A blocking transfer
// is complete when the call returns.
package internode

import (
	"errors"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// transfer is a put, get or accumulate that is being posted or is queued.
type transfer struct {
	xfer    *transport.Xfer
	h       header // what all its frames have in common
	later   bool   // no thread waits for it now, as Xfer.Later
	grain   int    // bytes of an element, which are in one frame
	operand []byte // of an accumulate, behind the header; in operandOf
	local   kernel.Cursor
	remote  kernel.Cursor
	vectors [2][]kernel.Group // both sides of vector data, which the cursors walk

	operandOf [operandBytes]byte
}

// reset makes f a transfer of x. s is the scale of an accumulate.
func (f *transfer) reset(x *transport.Xfer, k kind, rank transport.Rank, s transport.Scale) {
	f.xfer, f.h, f.later, f.grain = x, header{kind: k, rank: uint32(rank)}, x.Later, 1
	f.setOperand(nil, 0)
	if k == kindAcc {
		typ := kernel.Type(s.Type)
		f.h.op, f.h.what = opScaledSum, uint8(kernel.ElementOfAcc(typ))
		f.grain = kernel.TypeSize(typ)
		f.setOperand(unsafe.Slice((*byte)(s.Value), f.grain), scaleBytes)
	}
}

// setOperand sets the operand to an element and zeros, of n bytes together.
func (f *transfer) setOperand(element []byte, n int) {
	f.operand = f.operandOf[:n]
	clear(f.operand[copy(f.operand, element):])
}

// detachXfer ends the use of x, which is the caller's again. The cursors of r, which may be nil,
// still walk the vectors, so these stay with r.
func (f *transfer) detachXfer(r *request) {
	if r != nil && f.xfer.Vector != nil {
		f.vectors, r.dest.vectors = r.dest.vectors, f.vectors
	}
	f.xfer = nil
}

// Put sends local memory to remote memory.
func (t *Transport) Put(p transport.Peer, x *transport.Xfer) error {
	return postTransfer(t, p, x, kindPut, transport.Scale{})
}

// Get fetches remote memory.
func (t *Transport) Get(p transport.Peer, x *transport.Xfer) error {
	return postTransfer(t, p, x, kindGet, transport.Scale{})
}

// Acc adds local memory to remote memory.
func (t *Transport) Acc(p transport.Peer, x *transport.Xfer, s transport.Scale) error {
	return postTransfer(t, p, x, kindAcc, s)
}

// postTransfer posts a transfer, or queues it if it is large and nonblocking and the fabric's Send
// would block. It takes the target's mu.
func postTransfer(t *Transport, peer transport.Peer, x *transport.Xfer, k kind,
	s transport.Scale) error {
	nbytes := x.Bytes()
	g, err := t.targetOf(peer)
	if err != nil || nbytes == 0 {
		if err == nil {
			x.Finish(nil)
		}
		return err
	}
	rank := t.routes.peers[peer].Rank
	if x.Later && t.info.Blocks && k != kindGet && nbytes > max(int64(t.opt.Eager),
		t.info.Defers) {
		f := new(transfer)
		f.reset(x, k, rank, s)
		g.queue.enqueue(f)
		return nil
	}
	if err = g.lockConnected(); err != nil {
		return err
	}
	f := g.tx.buf.xfer
	f.reset(x, k, rank, s)
	r, err := f.postLocked(g, nbytes)
	f.detachXfer(r)
	g.mu.Unlock()
	return completePosted(x, r, err)
}

// completePosted completes a transfer that has been posted: at once if r is nil; else it waits for
// r, or leaves an unattended one to whichever thread receives its last answer.
func completePosted(x *transport.Xfer, r *request, err error) error {
	if r == nil {
		if err == nil {
			x.Finish(nil)
		}
		return err
	}
	later, p := r.unattended, r.poller
	r.finishPart(err)
	if later { // not x.Later: x may be the caller's again
		p.requestUnattended()
		return nil
	}
	_, err = r.wait()
	x.Finish(err)
	return nil
}

// postLocked posts the transfer by the protocol that it chooses. It returns nil if local memory may
// be reused and no answer is due, else the request with one part open: the caller ends that part by
// finishPart(err), also after an error, and waits for the request unless it is unattended. The
// caller holds the target's mu.
func (f *transfer) postLocked(g *target, nbytes int64) (r *request, err error) {
	f.rewind()
	switch {
	case g.tx.direct == nil:
		return f.postBy(g, nbytes, transport.ByPacking)
	case f.h.kind == kindAcc:
		return f.postAccumulate(g, nbytes)
	}
	return f.postBy(g, nbytes, f.chooseProtocol(g))
}

// postBy is postLocked by a given protocol, or by frames where that is not possible.
func (f *transfer) postBy(g *target, nbytes int64, by string) (r *request, err error) {
	get, copied := f.h.kind == kindGet, nbytes <= int64(g.t.opt.Eager) && !g.t.opt.Lends()
	if get || by == transport.ByDevice && !copied {
		if r, err = g.openRequest(f.xfer, kindData); err != nil {
			return nil, err
		}
	}
	switch {
	case by == transport.ByDevice:
		err = f.postDirect(g, r)
	case by == transport.ByTargetSide && get:
		err = f.requestPush(g, r)
	default:
		return r, f.postFrames(g, nbytes, r)
	}
	if errors.Is(err, transport.ErrNotNative) {
		g.t.conns.counts.refusedByDevice.Add(1)
		f.rewind() // writes again what the device has written, which does no harm
		return r, f.postFrames(g, nbytes, r)
	}
	return f.deferRefusal(g, r, err)
}

// deferRefusal records a remote address error of a put, which is not acknowledged; the next fence
// returns it. It returns other errors.
func (f *transfer) deferRefusal(g *target, r *request, err error) (*request, error) {
	if f.h.kind != kindGet && errors.Is(err, transport.ErrBadAddr) {
		why := err
		g.loss.refusal.CompareAndSwap(nil, &why)
		return r, nil
	}
	return r, err
}

// rewind sets both cursors to the beginning of the transfer.
func (f *transfer) rewind() { f.xfer.Cursors(&f.local, &f.remote, &f.vectors) }

// firstLocalAddr returns an address of the local side.
func (f *transfer) firstLocalAddr() uintptr {
	if f.xfer.Vector == nil {
		return f.xfer.Local.Base
	}
	return f.vectors[0][0].Addrs[0]
}

// maxWholeBytes is the longest block that is one load and one store (rule 8 of
// docs/memory-model.md).
const maxWholeBytes = 8

// chooseProtocol returns the protocol of a put or get to a target whose memory the device reaches.
// The caller holds the target's mu.
func (f *transfer) chooseProtocol(g *target) string {
	get := f.h.kind == kindGet
	if g.t.info.Bytewise && min(f.local.Row(), f.remote.Row()) <= maxWholeBytes {
		// a block may be a flag, which must be stored whole
		return transport.ByPacking
	}
	if f.local.Contiguous() && f.remote.Contiguous() { // also as a section
		return transport.ByDevice
	}
	switch forced := g.t.opt.Strided; {
	case forced == transport.ByClaiming:
		if get {
			return transport.ByPacking
		}
		return transport.ByClaiming
	case forced != transport.Auto && forced != "" && (forced != transport.ByTargetSide || get):
		return forced
	}
	c := g.costModel(get)
	w := workload{get: get, requests: g.tx.direct.Requests(&f.local, &f.remote),
		bytes: f.local.Left(), foreign: g.t.direct.LocalRange(f.firstLocalAddr()) == nil,
		behind: !g.hasHandled(g.tx.lastStore)}
	way := c.cheapest(w)
	// Outstanding frames have woken the server.
	if way.protocol == transport.ByDevice || w.behind ||
		g.progress.server.PrefersMessage(way.deviceCost, way.cost, c.wake.start) {
		return way.protocol
	}
	return transport.ByDevice
}

// addressOf returns an address for a cursor, which keeps no memory alive: the caller must.
func addressOf(b []byte) uintptr { return uintptr(pointerTo(b)) }

// pointerTo returns the address of the first byte.
func pointerTo(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
