// SPDX-License-Identifier: BSD-3-Clause

// Read-modify-write: by the node's server, with the atomics of its processors; or, of longs in memory that was declared for
// it, by the devices. The two are none towards each other, so the server refuses what is the devices' and tells how far
// that reaches.
package rdma

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// RMW changes a word of 4 or 8 bytes.
func (t *Transport) RMW(peer transport.Peer, r *transport.RMW) error {
	if r.Op > transport.Swap || r.Bytes != 4 && r.Bytes != 8 {
		return fmt.Errorf("read-modify-write %d of %d bytes: %w", r.Op, r.Bytes, transport.ErrNotNative)
	}
	w, err := t.wire(peer)
	if err != nil {
		return err
	}
	if r.Bytes == 8 && w.declared.find(r.Addr) != nil {
		return w.atomic(r)
	}
	h := header{kind: kindRMW, rank: uint32(t.peers[peer].Rank), addr: uint64(r.Addr), arg: uint64(r.Operand)}
	if r.Op == transport.Swap {
		h.flags |= flagSwap
	}
	if r.Bytes == 8 {
		h.flags |= flagWide
	}
	o, err := w.ask(h, kindOld)
	if err != nil {
		return err
	}
	if o.declared.direct {
		w.declared.add(o.declared)
		return w.atomic(r)
	}
	r.Old = o.value
	return nil
}

// DeviceAtomics tells whether this process's device has any.
func (t *Transport) DeviceAtomics() bool { return t.base.limits.Atomic != 0 }

// atomic changes a long by the devices.
func (w *wire) atomic(r *transport.RMW) error {
	if err := w.lock(); err != nil {
		return err
	}
	defer w.unlock()
	far, err := w.key(r.Addr, nil, nil)
	if err != nil {
		return err
	}
	if err := w.settle(); err != nil {
		return err
	}
	q := verbs.Request{Remote: uint64(r.Addr), Key: far.key, Pieces: 1, Op: verbs.FetchAdd, Operand: uint64(r.Operand)}
	if r.Op == transport.FetchAdd {
		r.Old, err = w.exchange(q)
		return err
	}
	q.Op, q.Operand, q.Swap = verbs.CompareSwap, 0, uint64(r.Operand)
	for { // somebody else has changed it each time this goes round
		if r.Old, err = w.exchange(q); err != nil || uint64(r.Old) == q.Operand {
			return err
		}
		q.Operand = uint64(r.Old)
	}
}

// exchange does one atomic and returns what was there before.
func (w *wire) exchange(q verbs.Request) (old int64, err error) {
	buffer, err := w.buffer()
	if err != nil {
		return 0, err
	}
	o := newOp(nil)
	err = w.ship(&shipment{op: o, buffer: none}, []verbs.Request{q}, []verbs.Data{w.c.out.data(buffer, 0, 8)})
	o.part(err)
	w.c.await(o.ended.Load)
	if o.err != nil {
		return 0, o.err // the buffer stays where it is
	}
	old = int64(binary.NativeEndian.Uint64(w.c.out.bytes(buffer)))
	w.c.out.put(buffer)
	return old, nil
}
