// SPDX-License-Identifier: BSD-3-Clause

// Transfers by the device alone: RDMA writes and reads. Registered local memory (pins.go) is written from and read into
// as it is, other memory goes through buffers. Rows are chained: one call of the device and one completion for many.
package rdma

import (
	"errors"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// pieceBytes bounds one request: what is repeated after a loss.
const pieceBytes = 1 << 20

// batch is requests that will be posted together: all with their data in one buffer, or none.
type batch struct {
	requests []verbs.Request
	data     []verbs.Data
	buffer   int32
	used     int  // bytes of the buffer
	into     runs // where they begin
}

// move writes or reads a whole transfer. The caller has the lock. copied: the local memory is the caller's again when
// this returns.
func (w *wire) move(x *transport.Xfer, op uint8, o *op, copied bool) error {
	b := &w.batch
	r := runsOf(x)
	for r.left > 0 {
		if len(b.requests) == chainLength {
			if err := w.flush(op, o); err != nil {
				return err
			}
		}
		local, remote, n := r.peek()
		run := n
		var near piece
		var whole bool // local memory is used as it is
		prepare := func() (err error) {
			if !copied {
				near, whole, err = w.near(local, run, op, o)
			}
			return err
		}
		far, err := w.key(remote, prepare)
		if err == nil {
			err = prepare()
		}
		if err != nil {
			w.flush(op, o)
			return err
		}
		n = min(n, int(far.hi-remote), pieceBytes)
		var d verbs.Data
		if whole {
			if b.buffer != none {
				w.flush(op, o)
			}
			n = min(n, int(near.hi-local))
			d = verbs.Data{Addr: uint64(local), Bytes: uint32(n), Key: near.key}
		} else if d, err = w.stage(&r, op, o, n); err != nil {
			return err
		}
		b.requests = append(b.requests, verbs.Request{Remote: uint64(remote), Key: far.key, Pieces: 1, Op: op})
		b.data = append(b.data, d)
		r.advance(int(d.Bytes))
	}
	return w.flush(op, o)
}

// stage finds room in a buffer for up to n bytes at the cursor, and fills it for a write.
func (w *wire) stage(r *runs, op uint8, o *op, n int) (d verbs.Data, err error) {
	b := &w.batch
	if b.buffer == none && len(b.requests) > 0 || b.used == bufferBytes {
		if err = w.flush(op, o); err != nil {
			return d, err
		}
	}
	if b.buffer == none {
		if b.buffer, err = w.buffer(); err != nil {
			return d, err
		}
		b.used, b.into = 0, *r
	}
	n = min(n, bufferBytes-b.used)
	if op == verbs.Write {
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
	b.requests, b.data, b.buffer, b.used = b.requests[:0], b.data[:0], none, 0
	return err
}

// small writes a few contiguous bytes, which the device takes from where they are before this returns.
func (w *wire) small(x *transport.Xfer) error {
	remote, n := x.Remote.Base, int(x.Count[0])
	far, err := w.key(remote, nil)
	if err != nil {
		return err
	}
	if n > int(far.hi-remote) {
		return w.move(x, verbs.Write, nil, true)
	}
	b := &w.batch
	b.requests = append(b.requests, verbs.Request{Remote: uint64(remote), Key: far.key, Pieces: 1, Op: verbs.Write,
		Flags: verbs.Inline})
	b.data = append(b.data, verbs.Data{Addr: uint64(x.Local.Base), Bytes: uint32(n)})
	return w.flush(verbs.Write, nil)
}

// errPacked: the node's device cannot reach the memory.
var errPacked = errors.New("memory without a key")

// key is the registered memory of the node around an address. Where this process does not know it yet, it asks;
// meanwhile, if not nil, is called while the question is under way.
func (w *wire) key(remote uintptr, meanwhile func() error) (*piece, error) {
	p := w.keys.find(remote)
	if p == nil {
		if err := w.fetchKeys(remote, meanwhile); err != nil {
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
