// SPDX-License-Identifier: BSD-3-Clause

// Transfers by messages to the node's server: accumulates, short rows, and memory that no device reaches. Data is packed
// into buffers at one side and unpacked at the other.
package rdma

import (
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// groups bounds the groups of a message that has no data.
func (w *wire) groups() int { return (w.most - headerBytes - scaleBytes) / groupBytes }

// piece is how many bytes each message of a transfer carries at most. Nothing may be in the batch or the plan: the cost
// model may have to measure.
func (w *wire) piece(get bool, bytes int64) int {
	if bytes <= leastBytes {
		return w.most
	}
	return min(w.costs(get).piece(get, bytes), w.most)
}

// credit waits until the server has room for another message, and counts it. The caller has the lock.
func (w *wire) credit() error {
	w.c.await(func() bool { return w.sent-w.handled.Load() < credits || w.broken.Load() != nil })
	if e := w.broken.Load(); e != nil {
		return *e
	}
	w.sent++
	return nil
}

// say sends a buffer with a message of n bytes, whose header is h.
func (w *wire) say(buffer int32, h *header, n int) error {
	b := w.c.out.bytes(buffer)
	h.encode(b)
	q, d := [1]verbs.Request{{Pieces: 1, Op: verbs.Send}}, []verbs.Data{w.c.out.data(buffer, 0, n)}
	if n > w.pair.Inline {
		return w.ship(&shipment{buffer: buffer}, q[:], d)
	}
	q[0].Flags = verbs.Inline
	err := w.ship(&shipment{buffer: none}, q[:], d)
	w.c.out.put(buffer)
	return err
}

// open takes a credit and a buffer for a message.
func (w *wire) open() (int32, error) {
	if err := w.credit(); err != nil {
		return none, err
	}
	return w.buffer()
}

// store sends a put or an accumulate in messages. The local memory is the caller's again when it returns.
func (w *wire) store(x *transport.Xfer, h header, scale *transport.Scale) error {
	r, grain := runsOf(x), 1
	l := limits{groups: w.groups(), data: w.piece(false, r.left), both: w.most - headerBytes}
	if scale != nil {
		l.both -= scaleBytes
		grain = kernel.TypeSize(kernel.Type(scale.Type))
		h.what = uint8(scale.Type)
	}
	for r.left > 0 {
		buffer, err := w.open()
		if err != nil {
			return err
		}
		from := r
		w.plan.take(&r, l, grain)
		b := w.c.out.bytes(buffer)
		at := headerBytes
		if scale != nil {
			copy(b[at:at+scaleBytes], unsafe.Slice((*byte)(scale.Value), grain))
			at += scaleBytes
		}
		at += w.plan.write(b[at:], &from)
		h.groups, h.bytes = uint16(len(w.plan.groups)), uint32(w.plan.bytes)
		h.flags = w.storing(r.left == 0)
		if err := w.say(buffer, &h, at); err != nil {
			return err
		}
	}
	return nil
}

// storing notes that the next message stores; the flags it returns go with it. The last one of a transfer carries the
// fence that is to be expected.
func (w *wire) storing(last bool) (flags uint8) {
	w.stores.Store(w.sent)
	w.unlearn()
	w.posted.Store(w.sent)
	if !last {
		return 0
	}
	if w.burst++; w.burst > 1 {
		w.habit = false
	}
	if w.habit {
		w.told, flags = w.sent, flagAck
	}
	return flags
}

// fetch asks for a get's data in messages.
func (w *wire) fetch(x *transport.Xfer, h header, o *op) error {
	r := runsOf(x)
	l := limits{groups: w.groups(), data: min(w.piece(true, r.left), w.most-headerBytes), both: 1 << 30}
	for r.left > 0 {
		buffer, err := w.open()
		if err != nil {
			return err
		}
		into := r
		w.plan.take(&r, l, 1)
		at := headerBytes + w.plan.write(w.c.out.bytes(buffer)[headerBytes:], nil)
		h.groups, h.bytes = uint16(len(w.plan.groups)), uint32(w.plan.bytes)
		if h.id, err = w.asked.add(inquiry{op: o, want: kindData, into: into, bytes: w.plan.bytes}); err != nil {
			w.c.out.put(buffer)
			return err
		}
		if err := w.say(buffer, &h, at); err != nil {
			return err
		}
	}
	return nil
}

// check asks the server whether all remote memory is the rank's.
func (w *wire) check(x *transport.Xfer, rank transport.Rank) error {
	if err := w.lock(); err != nil {
		return err
	}
	defer w.unlock()
	for r := runsOf(x); r.left > 0; {
		w.plan.take(&r, limits{groups: w.groups(), data: 1 << 30, both: 1 << 31}, 1)
		buffer, err := w.open()
		if err != nil {
			return err
		}
		at := headerBytes + w.plan.write(w.c.out.bytes(buffer)[headerBytes:], nil)
		h := header{kind: kindCheck, rank: uint32(rank), groups: uint16(len(w.plan.groups))}
		o, err := w.question(buffer, &h, at, kindVerdict)
		if err != nil {
			return err
		}
		if w.c.await(o.ended.Load); o.err != nil {
			return o.err
		}
		if o.value == 0 {
			return transport.ErrBadAddr
		}
	}
	return nil
}
