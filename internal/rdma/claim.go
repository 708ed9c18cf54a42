// SPDX-License-Identifier: BSD-3-Clause

// Stores through buffers of the server that are claimed by its device's atomics: the caller's side of landing.go. It
// packs into a buffer of its own while the claim travels, writes that to the claimed one and sends a descriptor after it.
package rdma

import (
	"encoding/binary"
	"time"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// tickets are for the buffers that a wire has at its server.
type tickets struct {
	asked    bool
	words    piece
	buffers  piece // hi == lo: there are none to be claimed
	cell     *pool // where the words come to
	slot     int   // bytes of one
	next     uint64
	held     uint64 // tickets from next on
	released uint64 // so many have been unpacked
}

// mostClaimed bounds the tickets that are claimed at once.
const mostClaimed = 4

// claimed stores a put. errPacked: there are no such buffers. The caller has the lock; the local memory is its again
// when this returns.
func (w *wire) claimed(x *transport.Xfer, h header) error {
	c := &w.tickets
	if err := w.askLanding(); err != nil {
		return err
	}
	h.kind = kindLanded
	for r := runsOf(x); r.left > 0; {
		if err := w.credit(); err != nil {
			return err
		}
		claim, err := w.claim((r.left + int64(w.most) - 1) / int64(w.most))
		if err != nil {
			return err
		}
		from, at := r, 0
		buffer := w.c.out.take() // none: while it waits for one it must not keep another from being filled
		if buffer != none {
			at = w.pack(&r, &h, buffer)
		}
		if err = w.granted(claim); err != nil {
			return err
		}
		if !c.usable() && buffer != none {
			w.c.out.put(buffer)
			buffer, r = none, from
		}
		if err = w.emptied(); err != nil {
			return err
		}
		if buffer == none {
			if buffer, err = w.buffer(); err != nil {
				return err
			}
			at = w.pack(&r, &h, buffer)
		}
		if err = w.deliver(buffer, &h, at, r.left == 0); err != nil {
			return err
		}
	}
	return w.giveBack()
}

// askLanding finds out what there is.
func (w *wire) askLanding() error {
	c := &w.tickets
	if !c.asked {
		list, err := w.pieces(&header{kind: kindLanding})
		if err != nil {
			return err
		}
		c.asked = true
		if len(list) == 2 {
			if c.cell, err = newPool(w.c.h.domain, 1, pageBytes); err == nil {
				c.words, c.buffers, c.slot = list[0], list[1], w.room
			}
		}
	}
	if c.buffers.lo == c.buffers.hi {
		return errPacked
	}
	return nil
}

func (c *tickets) count() uint64 { return uint64(c.buffers.hi-c.buffers.lo) / uint64(c.slot) }

// usable tells whether the next ticket's buffer is empty.
func (c *tickets) usable() bool { return c.held > 0 && c.next < c.released+c.count() }

// claim asks for up to n tickets, unless there is one; nil if it has asked for nothing.
func (w *wire) claim(n int64) (*op, error) {
	c := &w.tickets
	if c.held > 0 {
		return nil, nil
	}
	c.held = uint64(min(n, mostClaimed))
	o := newOp(nil)
	q := [2]verbs.Request{w.look(), {Remote: uint64(c.words.lo + claimedAt), Key: c.words.key, Pieces: 1, Op: verbs.FetchAdd,
		Operand: c.held}}
	err := w.ship(&shipment{op: o, buffer: none}, q[:], []verbs.Data{c.cell.data(0, 8, 8), c.cell.data(0, 0, 8)})
	o.part(err)
	return o, err
}

// look reads how many have been unpacked.
func (w *wire) look() verbs.Request {
	c := &w.tickets
	return verbs.Request{Remote: uint64(c.words.lo + releasedAt), Key: c.words.key, Pieces: 1, Op: verbs.Read}
}

// granted waits for what claim has asked for.
func (w *wire) granted(o *op) error {
	if o == nil {
		return nil
	}
	if w.c.await(o.ended.Load); o.err != nil {
		return o.err
	}
	w.tickets.next = binary.NativeEndian.Uint64(w.tickets.cell.bytes(0))
	w.tickets.released = binary.NativeEndian.Uint64(w.tickets.cell.bytes(0)[8:])
	return nil
}

// emptied looks until the next ticket's buffer is empty.
func (w *wire) emptied() error {
	c := &w.tickets
	for pause := time.Microsecond; !c.usable(); pause = min(2*pause, time.Millisecond) {
		o := newOp(nil)
		q := [1]verbs.Request{w.look()}
		o.part(w.ship(&shipment{op: o, buffer: none}, q[:], []verbs.Data{c.cell.data(0, 8, 8)}))
		if w.c.await(o.ended.Load); o.err != nil {
			return o.err
		}
		if c.released = binary.NativeEndian.Uint64(c.cell.bytes(0)[8:]); !c.usable() {
			time.Sleep(pause)
		}
	}
	return nil
}

// pack fills a buffer with groups and data of as much as goes into it, and tells where the data begins.
func (w *wire) pack(r *runs, h *header, buffer int32) int {
	from := *r
	w.plan.take(r, limits{groups: w.groups(), data: w.most, both: w.most - headerBytes}, 1)
	w.plan.write(w.c.out.bytes(buffer)[headerBytes:], &from)
	h.groups, h.bytes = uint16(len(w.plan.groups)), uint32(w.plan.bytes)
	return headerBytes + len(w.plan.groups)*groupBytes
}

// deliver writes the data of a buffer into the one of the next ticket, and then sends its descriptor.
func (w *wire) deliver(buffer int32, h *header, at int, last bool) error {
	c := &w.tickets
	h.arg, h.flags = c.next, w.storing(last)
	h.encode(w.c.out.bytes(buffer))
	to := c.buffers.lo + uintptr(c.next%c.count())*uintptr(c.slot)
	c.next++
	c.held--
	q := [2]verbs.Request{{Remote: uint64(to), Key: c.buffers.key, Pieces: 1, Op: verbs.Write}, {Pieces: 1, Op: verbs.Send}}
	return w.ship(&shipment{buffer: buffer}, q[:],
		[]verbs.Data{w.c.out.data(buffer, at, int(h.bytes)), w.c.out.data(buffer, 0, at)})
}

// giveBack returns tickets that are not needed: others wait for them to be used.
func (w *wire) giveBack() error {
	for c := &w.tickets; c.held > 0; c.held-- {
		buffer, err := w.open()
		if err != nil {
			return err
		}
		h := header{kind: kindLanded, rank: uint32(w.server), arg: c.next}
		c.next++
		if err := w.say(buffer, &h, headerBytes); err != nil {
			return err
		}
	}
	return nil
}
