// SPDX-License-Identifier: BSD-3-Clause

// Put, get and accumulate: from a transfer to frames. A transfer that somebody waits for is complete when its call
// returns; one that nobody waits for is put off, queued, or answered later.
package tcp

import (
	"sync"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// transfer is a put, get or accumulate.
type transfer struct {
	x     *transport.Xfer
	h     header // what all its frames have in common
	scale [scaleBytes]byte
	p     *pending // nil if no answer is expected
	wait  bool     // for the answer
	later bool     // nobody waits for it now
}

// transfers are used again: those that are queued.
var transfers = sync.Pool{New: func() any { return new(transfer) }}

// sent ends a store that was queued and reports its local completion; one with an answer is complete when that has come.
func (r *transfer) sent(err error) {
	x := r.x
	if r.wait {
		x = nil
	}
	*r = transfer{}
	transfers.Put(r)
	if x != nil {
		x.Finish(err)
	}
}

// Put sends local memory to remote memory.
func (t *Transport) Put(p transport.Peer, x *transport.Xfer) error {
	return t.post(p, &transfer{x: x, h: header{Kind: kindPut}})
}

// Get fetches remote memory.
func (t *Transport) Get(p transport.Peer, x *transport.Xfer) error {
	return t.post(p, &transfer{x: x, h: header{Kind: kindGet}})
}

// Acc sends local memory to be added to remote memory.
func (t *Transport) Acc(p transport.Peer, x *transport.Xfer, s transport.Scale) error {
	r := transfer{x: x, h: header{Kind: kindAcc, Flags: uint8(s.Type) << typeShift}}
	copy(r.scale[:], unsafe.Slice((*byte)(s.Value), kernel.TypeSize(kernel.Type(s.Type))))
	return t.post(p, &r)
}

// post sends a request, or sees that it is sent.
func (t *Transport) post(peer transport.Peer, r *transfer) error {
	x, nbytes := r.x, r.x.Bytes()
	if nbytes == 0 {
		x.Finish(nil)
		return nil
	}
	w, err := t.wire(peer)
	if err != nil {
		return err
	}
	r.h.Rank, r.later = uint32(t.peers[peer].Rank), x.Later
	if err := w.expect(r, nbytes); err != nil {
		return err
	}
	small := nbytes <= int64(t.opt.Eager)
	if r.later && !small && r.h.Kind != kindGet {
		queued := transfers.Get().(*transfer)
		*queued = *r
		w.enqueue(queued)
		return nil
	}
	err = w.submit(r, small)
	switch { // where the answer is for x.Done, that may have been called: x is the caller's again
	case !r.wait && err != nil:
		return err
	case !r.wait:
		x.Finish(nil)
	case !r.later:
		w.await(r.p)
		err := r.p.err
		w.table.release(r.p)
		x.Finish(err)
	}
	return nil // from here on errors go to Done: what is open on a wire that fails is told
}

// expect opens an entry for a request that will be answered.
func (w *wire) expect(r *transfer, nbytes int64) (err error) {
	m, x := awaited, r.x
	if r.later {
		m = later
	}
	r.wait = r.h.Kind == kindGet || !r.x.Known
	switch {
	case r.wait:
	case !r.later && w.fenceExpected():
		m, x = silent, nil
	default:
		return nil
	}
	if r.h.Kind == kindGet {
		r.p, err = w.table.openGet(x, m, nbytes, w.t.opt.Gather)
	} else {
		r.h.Flags |= flagAck
		r.p, err = w.table.open(x, m, kindDone)
	}
	if err == nil {
		r.h.ID = r.p.id
	}
	return err
}

// bigBytes is the least data that is received straight to where it belongs.
const bigBytes = 4 << 10

// submit sends a request. A small one may stay in out for a while.
func (w *wire) submit(r *transfer, small bool) error {
	if err := w.lock(); err != nil {
		return err
	}
	defer w.mu.Unlock()
	if err := w.send(r); err != nil {
		return err
	}
	known := w.deferred.Load() // to the engine: it will come
	if small && w.mayWait(r) && !w.t.buffers.scarce() {
		w.deferred.Store(true)
	} else if err := w.flush(); err != nil {
		return err
	}
	if r.later && r.p != nil || w.deferred.Load() && !known {
		w.driven.Store(true)
		w.t.engine.attend(w)
	}
	return nil
}

// mayWait tells whether a small request may be put off: a get that nobody waits for, when others are on their way; a
// store, if nobody waits for it, or if it is one of many.
func (w *wire) mayWait(r *transfer) bool {
	switch {
	case r.h.Kind == kindGet:
		return r.later && w.table.later.Load() > 1
	case r.p != nil:
		w.burst.end()
		return r.later
	}
	return r.later || w.burst.next(w.t)
}

// burst recognises stores that follow each other closely. They are worth sending together: a system call for each takes
// longer than all the rest of it.
type burst struct {
	last  time.Duration // when the last one was
	count int           // of those that came soon after the one before; less after a pause
}

const (
	burstGap   = 10 * time.Microsecond // a pause; it may be the engine's, who is just sending
	burstEnd   = time.Millisecond
	burstStart = 8 // so many are sent one by one first
	burstMost  = 64
)

// next counts a store and tells whether it is one of a burst.
func (b *burst) next(t *Transport) bool {
	now := time.Since(t.start)
	switch gap := now - b.last; {
	case gap > burstEnd:
		b.count = 0
	case gap > burstGap:
		b.count /= 2
	}
	b.last = now
	b.count = min(b.count+1, burstMost)
	return b.count > burstStart
}

// end is called when something else is sent.
func (b *burst) end() { b.count = 0 }

// send writes a request to out, or past it: one frame, or several for a long list. The caller has the lock.
func (w *wire) send(r *transfer) error {
	if r.h.Kind != kindGet {
		w.from.set(r.x)
	}
	if r.x.Vector != nil {
		return w.sendList(r)
	}
	n := r.x.Bytes()
	need := headerBytes + scaleBytes + 8*len(r.x.Count)
	if n <= int64(w.t.opt.Eager) {
		need += int(n)
	}
	if err := w.room(need); err != nil {
		return err
	}
	at := w.begin(r)
	h := r.h
	h.Addr, h.Bytes = uint64(r.x.Remote.Base), uint64(n)
	if len(r.x.Count) > 1 {
		h.Flags |= flagStrided
		w.out = appendStrided(w.out, r.x.Count, r.x.Remote.Stride)
	}
	w.end(r, &h, at)
	return w.body(&h)
}

// listBytes bounds the descriptor of one frame of a list.
const listBytes = 16 << 10

func (w *wire) sendList(r *transfer) error {
	left := r.x.Bytes()
	for from := (place{}); left > 0; {
		if err := w.room(headerBytes + scaleBytes + listBytes); err != nil {
			return err
		}
		at := w.begin(r)
		h := r.h
		h.Flags |= flagVector
		h.Addr = uint64(firstAddr(r.x.Vector, from))
		var n int64
		w.out, from, n = appendVector(w.out, r.x.Vector, from, h.Addr, listBytes)
		h.Bytes = uint64(n)
		if left -= n; left > 0 && r.p != nil {
			r.p.parts.Add(1)
		}
		w.end(r, &h, at)
		if err := w.body(&h); err != nil {
			return err
		}
	}
	return nil
}

// firstAddr is the remote address of the first segment from a place on.
func firstAddr(v []transport.Segments, from place) uintptr {
	for from.i >= len(v[from.d].Remote) || v[from.d].Bytes <= 0 {
		from = place{from.d + 1, 0}
	}
	return v[from.d].Remote[from.i]
}

// begin makes room for a header in out and writes the fixed part of the descriptor. It returns the header's place.
func (w *wire) begin(r *transfer) int {
	at := len(w.out)
	w.out = w.out[:at+headerBytes]
	if r.h.Kind == kindAcc {
		w.out = append(w.out, r.scale[:]...)
	}
	return at
}

// end writes the header, and counts a store.
func (w *wire) end(r *transfer, h *header, at int) {
	h.Desc = uint16(len(w.out) - at - headerBytes)
	h.encode(w.out[at:])
	stores := w.stores.Load()
	if h.Kind != kindGet {
		stores = w.stores.Add(1)
	}
	if r.p != nil && !r.p.asked.Load() {
		r.p.stores = stores
		r.p.asked.Store(true)
		w.asked.Store(stores)
	}
}

// body sends the data of a store: from where it is, or through out if it is little or in short pieces. The buffer is
// kept until the frame is whole, for who waited for another one now would make a server wait.
func (w *wire) body(h *header) error {
	n := h.payload()
	w.afloat.Add(n)
	if n > int64(w.t.opt.Eager) && w.from.row() >= int64(w.t.opt.Gather) {
		return w.sendAll(&w.from, n)
	}
	for {
		at := len(w.out)
		k := int(min(n, int64(cap(w.out)-at)))
		w.out = w.out[:at+k]
		w.from.gather(w.out[at:], &w.piece)
		if n -= int64(k); n == 0 {
			return nil
		}
		if err := w.empty(); err != nil {
			return err
		}
	}
}
