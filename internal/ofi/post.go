// SPDX-License-Identifier: BSD-3-Clause

// How a request of a queue pair becomes one of the provider: when it may go, and what is in it.
package ofi

import (
	"encoding/binary"

	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
)

// behind tells whether a request has to wait for writes before it, since the provider does not keep
// that order.
func (p *pair) behind(r *qp.Request, number uint64) bool {
	cs := p.fast.Writes()
	if p.writes == 0 && cs == 0 {
		return false
	}
	modes := p.q.d.modes
	switch r.Op {
	case qp.Send:
		return modes&libfabric.WriteSend == 0
	case qp.Write:
		return modes&libfabric.WriteWrite == 0 &&
			(p.writing != number || r.Pieces == 0 || cs > 0)
	case qp.Read:
		return modes&libfabric.WriteRead == 0
	}
	return modes&(libfabric.WriteRead|libfabric.WriteWrite) != libfabric.WriteRead|
		libfabric.WriteWrite
}

// post gives a request to the provider; posted is false if it has to wait. The caller has the lock.
func (p *pair) post(r *qp.Request, d []qp.Data, copied []byte, number uint64) (posted bool,
	err error) {
	if code := p.fast.Failed(); code != 0 {
		return false, libfabric.Error(code)
	}
	if p.flying >= p.q.d.flight || p.behind(r, number) {
		if p.flying == 0 || p.fast.Writes() > 0 { // completions of C's push nothing
			p.stall()
		}
		return false, nil
	}
	q := p.q
	write := r.Op != qp.Send && r.Op != qp.Read
	at := q.slots.take(request{p, number, write})
	if at < 0 {
		p.stall()
		return false, nil
	}
	p.fill(r, d, copied, at)
	p.flying++ // before the poller may see its completion
	if write {
		p.writes++
		p.writing = number
	}
	again, err := q.ep.Post(p.r)
	if !again && err == nil {
		if r.Op == qp.Send {
			p.sent = following(p.sent)
		}
		return true, nil
	}
	q.slots.put(at)
	p.flying--
	if write {
		p.writes--
	}
	if again {
		p.stall()
	}
	return false, err
}

// stall has the poller try again. The caller has the lock.
func (p *pair) stall() {
	if !p.stalled {
		p.stalled = true
		p.q.stall(p)
	}
}

// fill makes a request of the provider. The caller has the lock.
func (p *pair) fill(r *qp.Request, d []qp.Data, copied []byte, at int32) {
	q, x, slot := p.q, p.r, p.q.slots.bytes(at)
	base := q.slots.addr(at)
	x.To, x.Context, x.Op, x.Flags, x.Pieces = p.to, base, uint32(r.Op), libfabric.Told, 0
	add := func(addr uintptr, n int, desc libfabric.Desc) {
		x.Piece[x.Pieces] = libfabric.Piece{Addr: addr, Bytes: uintptr(n), Desc: desc}
		x.Pieces++
	}
	if r.Flags&qp.Inline != 0 {
		if copied == nil {
			copied = copyOf(d)
		}
		add(base+copiedAt, copy(slot[copiedAt:], copied), q.slots.desc)
	} else {
		for i := range d {
			add(uintptr(d[i].Addr), int(d[i].Bytes), q.d.descs.of(d[i].Key))
		}
	}
	end := trailer{p.its.pair, p.sent, p.its.token}
	switch r.Op {
	case qp.Write, qp.CompareSwap, qp.FetchAdd:
		x.Flags = q.d.told
	}
	if r.Op == qp.Write && r.Pieces == 0 {
		// who writes nothing wants to know whether the other end is there
		x.Op, end.number = uint32(qp.Send), pulseNumber
	}
	if x.Op == uint32(qp.Send) {
		if r.Pieces == 0 {
			// the last message, or a pulse: what has only left may be lost when the
			// endpoint is closed
			x.Flags = q.d.told
		}
		end.encode(slot[trailerAt:])
		add(base+trailerAt, trailerBytes, q.slots.desc)
		return
	}
	there := p.place(r.Key)
	x.Remote, x.Key = r.Remote-there.base, there.key
	if r.Op == qp.CompareSwap || r.Op == qp.FetchAdd {
		p.operands(r, slot, base)
	}
}

// operands writes those of an atomic into its slot.
func (p *pair) operands(r *qp.Request, slot []byte, base uintptr) {
	x, ne := p.r, binary.NativeEndian
	x.Operand, x.Compare, x.Operands = base+operandAt, base+compareAt, p.q.slots.desc
	if r.Op == qp.FetchAdd {
		ne.PutUint64(slot[operandAt:], r.Operand)
		return
	}
	ne.PutUint64(slot[operandAt:], r.Swap)
	ne.PutUint64(slot[compareAt:], r.Operand)
}

// place is where a key's memory is. The caller has the lock.
func (p *pair) place(key uint64) place {
	x, ok := p.places[key]
	if !ok {
		x = p.q.d.placeOf(key)
		p.places[key] = x
	}
	return x
}
