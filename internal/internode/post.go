// SPDX-License-Identifier: BSD-3-Clause

// Put, get and accumulate: which way a transfer takes, and when it is complete. One that somebody
// waits for is complete when its call returns.
package internode

import (
	"errors"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// transfer is a put, get or accumulate on its way.
type transfer struct {
	x     *transport.Xfer
	h     header // what all its frames have in common
	scale [scaleBytes]byte
	left  kernel.Cursor // local side
	right kernel.Cursor // remote side
	list  [2][]kernel.Group
}

// set begins a transfer of x. s is the scale of an accumulate.
func (f *transfer) set(x *transport.Xfer, k kind, rank transport.Rank, s transport.Scale) {
	f.x, f.h = x, header{kind: k, rank: uint32(rank)}
	if k == kindAcc {
		f.h.what = uint8(s.Type)
		copy(f.scale[:],
			unsafe.Slice((*byte)(s.Value), kernel.TypeSize(kernel.Type(s.Type))))
	}
}

// posted ends the use of a transfer. What comes for its request, if it has one, still goes where
// its lists say: they stay with the request.
func (f *transfer) posted(r *request) {
	if r != nil && f.x.Vector != nil {
		f.list, r.list = r.list, f.list
	}
	f.x = nil
}

// Put sends local memory to remote memory.
func (t *Transport) Put(p transport.Peer, x *transport.Xfer) error {
	return t.post(p, x, kindPut, transport.Scale{})
}

// Get fetches remote memory.
func (t *Transport) Get(p transport.Peer, x *transport.Xfer) error {
	return t.post(p, x, kindGet, transport.Scale{})
}

// Acc adds local memory to remote memory.
func (t *Transport) Acc(p transport.Peer, x *transport.Xfer, s transport.Scale) error {
	return t.post(p, x, kindAcc, s)
}

// post carries a transfer out, or sees that it is.
func (t *Transport) post(peer transport.Peer, x *transport.Xfer, k kind, s transport.Scale) error {
	nbytes := x.Bytes()
	g, err := t.target(peer)
	if err != nil || nbytes == 0 {
		if err == nil {
			x.Finish(nil)
		}
		return err
	}
	rank := t.peers[peer].Rank
	if x.Later && t.info.Blocks && k != kindGet && nbytes > max(int64(t.opt.Eager),
		t.info.Defers) {
		f := new(transfer)
		f.set(x, k, rank, s)
		g.enqueue(f)
		return nil
	}
	if err = g.lock(); err != nil {
		return err
	}
	f := g.posting
	f.set(x, k, rank, s)
	r, err := g.carry(f, nbytes)
	f.posted(r)
	g.mu.Unlock()
	return end(x, r, err)
}

// end completes a transfer that has been posted: at once, when r is complete, or later.
func end(x *transport.Xfer, r *request, err error) error {
	if r == nil {
		if err == nil {
			x.Finish(nil)
		}
		return err
	}
	later, p := r.later, r.poller
	r.finish(err)
	if later { // x is the caller's again, perhaps
		p.attendLater()
		return nil
	}
	_, err = r.wait()
	x.Finish(err)
	return nil
}

// carry posts a transfer. r is what has to be waited for, with one part open; nil if local memory
// may be reused and the target is not asked. The caller has the lock.
func (g *target) carry(f *transfer, nbytes int64) (r *request, err error) {
	f.begin()
	switch {
	case g.direct == nil:
		return g.carryBy(f, nbytes, transport.ByPacking)
	case f.h.kind == kindAcc:
		return g.accumulate(f, nbytes)
	}
	return g.carryBy(f, nbytes, g.protocol(f))
}

// carryBy is carry by a protocol, or by frames where that is not possible.
func (g *target) carryBy(f *transfer, nbytes int64, by string) (r *request, err error) {
	get, copied := f.h.kind == kindGet, nbytes <= int64(g.t.opt.Eager) && !g.t.opt.Lends()
	if get || by == transport.ByDevice && !copied {
		if r, err = g.open(f.x, kindData); err != nil {
			return nil, err
		}
	}
	switch {
	case by == transport.ByDevice:
		err = g.move(f, r)
	case by == transport.ByTargetSide && get:
		err = g.pull(f, r)
	default:
		return r, g.byFrames(f, nbytes, r)
	}
	if errors.Is(err, transport.ErrNotNative) {
		g.t.counts.refused.Add(1)
		f.begin() // what was written is written again, which does no harm
		return r, g.byFrames(f, nbytes, r)
	}
	return g.untold(f, r, err)
}

// untold turns a bad address of a put that its caller believes to be good into an error of the next
// fence.
func (g *target) untold(f *transfer, r *request, err error) (*request, error) {
	if f.h.kind != kindGet && errors.Is(err, transport.ErrBadAddr) {
		why := err
		g.refused.CompareAndSwap(nil, &why)
		return r, nil
	}
	return r, err
}

// begin sets both cursors to the beginning of the transfer.
func (f *transfer) begin() { f.x.Cursors(&f.left, &f.right, &f.list) }

// firstLocal is an address of the local side.
func (f *transfer) firstLocal() uintptr {
	if f.x.Vector == nil {
		return f.x.Local.Base
	}
	return f.list[0][0].Addrs[0]
}

// wholeBytes is the longest block that is one load and one store (rule 8 of docs/memory-model.md).
const wholeBytes = 8

// protocol chooses how a put or get travels to a target whose memory the device reaches.
func (g *target) protocol(f *transfer) string {
	get := f.h.kind == kindGet
	if g.t.info.Bytewise && min(f.left.Row(), f.right.Row()) <= wholeBytes {
		// each may be a flag
		return transport.ByPacking
	}
	if f.left.Contiguous() && f.right.Contiguous() { // however it was described
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
	c := g.costs(get)
	w := workload{get: get, requests: g.direct.Requests(&f.left, &f.right),
		bytes: f.left.Left(), foreign: g.t.direct.Here(f.firstLocal()) == nil,
		behind: !g.reached(g.stored)}
	way := c.choose(w)
	// What is outstanding has woken the server.
	if way.by == transport.ByDevice || w.behind ||
		g.serves.Asks(way.device, way.time, c.wake.start) {
		return way.by
	}
	return transport.ByDevice
}

// addressOf is for cursors, which hold no pointers: the memory must be kept alive by somebody else.
func addressOf(b []byte) uintptr { return uintptr(pointerTo(b)) }

func pointerTo(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
