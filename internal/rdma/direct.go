// SPDX-License-Identifier: BSD-3-Clause

// Transfers by the device alone: RDMA writes and reads. Registered local memory (pins.go) is written from and read into
// as it is, other memory goes through buffers, one of which is copied while others travel. Rows are chained: one call of
// the device and one completion for many.
package rdma

import (
	"errors"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// move writes or reads a whole transfer. The caller has the lock. copied: the local memory is the caller's again when
// this returns.
func (w *wire) move(x *transport.Xfer, op uint8, o *op, copied bool) error {
	b := &w.batch
	r := runsOf(x)
	if op == verbs.Write && r.single() && r.left <= int64(w.pair.Inline) && w.t.opt.Contiguous != zerocopy {
		if done, err := w.small(&r); done || err != nil {
			return err
		}
	}
	m := mover{w: w, op: op, o: o, copied: copied, all: r.left, single: r.single(), lendFrom: w.lendFrom(&r)}
	for r.left > 0 {
		if len(b.requests) == chainLength {
			if err := w.flush(op, o); err != nil {
				return err
			}
		}
		remote, n, key, err := w.reach(&r, &m)
		if err != nil {
			w.flush(op, o)
			return err
		}
		d, err := m.local(&r, n)
		if err != nil {
			return err
		}
		b.add(op, remote, key, d, w.width)
		r.advance(int(d.Bytes))
	}
	return w.flush(op, o)
}

// reach is where the cursor is at the other side: how many bytes from there on one request may have, and their key. Of a
// mover, which may be nil, the local side is made ready if it takes time.
func (w *wire) reach(r *runs, m *mover) (remote uintptr, n int, key uint32, err error) {
	_, remote, n = r.peek()
	far, err := w.key(remote, m, r)
	if err != nil {
		return 0, 0, 0, err
	}
	return remote, min(n, int(far.hi-remote), pieceBytes), far.key, nil
}

// mover finds registered memory for the local side of a transfer.
type mover struct {
	w        *wire
	op       uint8
	o        *op
	copied   bool
	all      int64 // bytes
	single   bool  // it is contiguous
	lendFrom int
}

// local is registered memory for up to n bytes at the cursor: the caller's, or a buffer.
func (m *mover) local(r *runs, n int) (verbs.Data, error) {
	w := m.w
	near, whole, err := m.caller(r)
	if err != nil {
		return verbs.Data{}, err
	}
	if !whole {
		return w.stage(r, m, n)
	}
	if w.batch.buffer != none {
		if err := w.flush(m.op, m.o); err != nil {
			return verbs.Data{}, err
		}
	}
	local, _, _ := r.peek()
	return verbs.Data{Addr: uint64(local), Bytes: uint32(min(n, int(near.hi-local))), Key: near.key}, nil
}

// caller is the caller's memory at the cursor if it may be used as it is.
func (m *mover) caller(r *runs) (p piece, whole bool, err error) {
	if m.copied || m.w.t.opt.Contiguous == buffered {
		return p, false, nil
	}
	local, _, n := r.peek()
	return m.w.near(local, n, m)
}

// lendFrom is the length from which on pieces of the caller's memory are registered. Short rows never are: they may lie
// in as many pages.
func (w *wire) lendFrom(r *runs) int {
	switch c := w.t.known.Load(); {
	case w.t.opt.Contiguous == zerocopy && r.single():
		return 1
	case c != nil:
		return c.lendFrom()
	}
	return lendBytes
}

// stage finds room in a buffer for up to n bytes at the cursor, and fills it for a write.
func (w *wire) stage(r *runs, m *mover, n int) (d verbs.Data, err error) {
	b, whole := &w.batch, 1
	if !m.single { // a row of two pieces takes two requests
		whole = min(n, w.c.out.size)
	}
	if b.buffer == none && len(b.requests) > 0 || b.buffer != none && b.room-b.used < whole {
		if err = w.flush(m.op, m.o); err != nil {
			return d, err
		}
	}
	if b.buffer == none {
		room := max(chunk(m.op, w.firstChunk(m.all), w.c.out.size, m.all-r.left, r.left), whole)
		if b.buffer, err = w.buffer(); err != nil {
			return d, err
		}
		b.used, b.into, b.room = 0, *r, room
	}
	n = min(n, b.room-b.used)
	if m.op == verbs.Write {
		local, _, _ := r.peek()
		copy(w.c.out.bytes(b.buffer)[b.used:], memory(local, n))
	}
	d = w.c.out.data(b.buffer, b.used, n)
	b.used += n
	return d, nil
}

// undivided is how much is not worth more than one piece, nor asking the cost model.
const undivided = 2 << 10

// firstChunk is the size of the first piece of a transfer through buffers. Nothing may be in the batch: the cost model may
// have to measure.
func (w *wire) firstChunk(all int64) int {
	if all <= undivided {
		return undivided
	}
	return w.costs(false).first()
}

// flush posts the batch.
func (w *wire) flush(op uint8, o *op) error {
	b := &w.batch
	if len(b.requests) == 0 {
		return nil
	}
	s := shipment{op: o, buffer: b.buffer}
	if op == verbs.Read && b.buffer != none {
		s.into, s.bytes = b.into, b.used
	}
	err := w.ship(&s, b.requests, b.data)
	b.clear()
	return err
}

// small writes a few contiguous bytes, which the device takes from where they are before this returns; done is false if
// they have two keys.
func (w *wire) small(r *runs) (done bool, err error) {
	local, _, all := r.peek()
	remote, n, key, err := w.reach(r, nil)
	if err != nil || n < all {
		return false, err
	}
	b := &w.batch
	b.add(verbs.Write, remote, key, verbs.Data{Addr: uint64(local), Bytes: uint32(n)}, 1)
	b.requests[0].Flags = verbs.Inline
	return true, w.flush(verbs.Write, nil)
}

// errPacked: the node's device cannot reach the memory.
var errPacked = errors.New("memory without a key")

// key is the registered memory of the node around an address. Where this process does not know it yet, it asks
// (fetchKeys).
func (w *wire) key(remote uintptr, m *mover, r *runs) (*piece, error) {
	p := w.keys.find(remote)
	if p == nil {
		if err := w.fetchKeys(remote, m, r); err != nil {
			return nil, err
		}
		if p = w.keys.find(remote); p == nil {
			return nil, transport.ErrBadAddr
		}
	}
	if !p.direct {
		return nil, errPacked
	}
	return p, nil
}
