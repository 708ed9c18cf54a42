// SPDX-License-Identifier: BSD-3-Clause

// Gets that the target's server writes into the caller's memory: paper 000's host-assisted zero copy, for networks whose
// reads are slow. This is the caller's side; pusher.go is the server's.
package rdma

import "libarmci/internal/transport"

// mostPushed bounds what one message asks for.
const mostPushed = 1 << 30

// pull asks for a get's data. errPacked: some memory is out of a device's reach.
func (w *wire) pull(x *transport.Xfer, h header, o *op) error {
	r := runsOf(x)
	lo, hi := r.localSpan()
	key, ok := w.expose(lo, hi, o)
	if !ok {
		return errPacked
	}
	for at := r; at.left > 0; {
		_, n, _, err := w.reach(&at, nil)
		if err != nil {
			return err
		}
		at.advance(n)
	}
	h.kind = kindPush
	for r.left > 0 {
		buffer, err := w.open()
		if err != nil {
			return err
		}
		body := w.c.out.bytes(buffer)[headerBytes:]
		there, here, n := w.planBoth(&r, body)
		h.groups, h.bytes, h.arg = uint16(there+here), uint32(n), uint64(key)<<32|uint64(there)
		if h.id, err = w.asked.add(inquiry{op: o, want: kindPushed}); err != nil {
			w.c.out.put(buffer)
			return err
		}
		if err := w.say(buffer, &h, headerBytes+(there+here)*groupBytes); err != nil {
			return err
		}
	}
	return nil
}

// planBoth writes the groups of as many bytes as fit, those of the other side, then those of this one, and moves the
// cursor. It tells how many of both there are, and the bytes.
func (w *wire) planBoth(r *runs, body []byte) (there, here, n int) {
	l := limits{groups: w.groups() / 2, data: mostPushed, both: 2 * mostPushed}
	begin, p := *r, &w.plan
	at := begin.swapped()
	p.take(&at, l, 1)
	l.data = p.bytes
	p.take(r, l, 1) // perhaps less
	there, n = len(p.groups), p.bytes
	used := p.write(body, nil)
	l.data = n
	at = begin.swapped()
	p.take(&at, l, 1)
	p.write(body[used:], nil)
	return there, len(p.groups), n
}

// expose makes local memory writable for others until the operation has ended.
func (w *wire) expose(lo, hi uintptr, o *op) (key uint32, ok bool) {
	if near := w.t.arena.here(lo); near != nil {
		if p := w.t.arena.remote.find(lo); p != nil && p.direct && hi <= p.hi {
			return p.key, true
		}
		return 0, false
	}
	if int64(hi-lo) > mostExposed {
		return 0, false
	}
	first, last := pages(lo, int64(hi-lo))
	r, err := w.t.arena.domain.Register(first, int64(last-first), true)
	if err != nil {
		return 0, false
	}
	o.exposed = r
	return r.RKey, true
}

// mostExposed bounds memory that is registered for one get: rows may be far from each other.
const mostExposed = 64 << 20
