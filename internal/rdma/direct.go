// SPDX-License-Identifier: BSD-3-Clause

// Transfers by the device alone: RDMA writes and reads. Memory of the arena is written from and read into as it is, and
// so are long pieces of other local memory, which are registered meanwhile; short ones go through buffers, one of which is
// copied while others travel. Rows are chained: one call of the device and one completion for many.
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
	m := mover{w: w, op: op, o: o, copied: copied, all: r.left, lendFrom: w.lendFrom(&r)}
	for r.left > 0 {
		if len(b.requests) == chainLength {
			if err := w.flush(op, o); err != nil {
				return err
			}
		}
		remote, n, key, err := w.reach(&r)
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

// reach is where the cursor is at the other side: how many bytes from there on one request may have, and their key.
func (w *wire) reach(r *runs) (remote uintptr, n int, key uint32, err error) {
	_, remote, n = r.peek()
	far, err := w.key(remote)
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
	lendFrom int
}

// local is registered memory for up to n bytes at the cursor: the caller's, or a buffer.
func (m *mover) local(r *runs, n int) (verbs.Data, error) {
	w := m.w
	near := m.caller(r, n)
	if near == nil {
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
func (m *mover) caller(r *runs, n int) *piece {
	if m.copied || m.w.t.opt.Contiguous == buffered {
		return nil
	}
	local, _, _ := r.peek()
	if near := m.w.near(local, m.copied); near != nil || n < m.lendFrom {
		return near
	}
	return m.w.lend(local, n, m.o)
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

// near is the registered memory around a local address that may be used as it is.
func (w *wire) near(local uintptr, copied bool) *piece {
	if copied {
		return nil
	}
	return w.t.arena.here(local)
}

// lendBytes is from where on it takes longer to copy than to register.
const lendBytes = 64 << 10

// lend registers memory of the caller until the operation ends; nil if that is refused, and it goes through buffers.
func (w *wire) lend(local uintptr, n int, o *op) *piece {
	lo, hi := pages(local, int64(n))
	r, err := w.t.arena.domain.Register(lo, int64(hi-lo), false)
	if err != nil {
		return nil
	}
	o.lent = append(o.lent, r)
	return &piece{lo, hi, r.LKey, true}
}

// stage finds room in a buffer for up to n bytes at the cursor, and fills it for a write.
func (w *wire) stage(r *runs, m *mover, n int) (d verbs.Data, err error) {
	b := &w.batch
	if b.buffer == none && len(b.requests) > 0 || b.buffer != none && b.used == b.room {
		if err = w.flush(m.op, m.o); err != nil {
			return d, err
		}
	}
	if b.buffer == none {
		if b.buffer, err = w.buffer(); err != nil {
			return d, err
		}
		b.used, b.into = 0, *r
		b.room = chunk(m.op, w.t.firstChunk(), m.all-r.left, r.left)
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
	remote, n, key, err := w.reach(r)
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

// key is the registered memory of the node around an address. Where this process does not know it yet, it asks.
func (w *wire) key(remote uintptr) (*piece, error) {
	p := w.keys.find(remote)
	if p == nil {
		if err := w.fetchKeys(remote); err != nil {
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
