// SPDX-License-Identifier: BSD-3-Clause

// How a request of a queue pair becomes one of the provider: when it may be posted, and its fields.
package ofi

import (
	"encoding/binary"

	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
)

// mustWaitForWrites tells whether a request has to wait for earlier writes, since the provider does
// not keep that order. The caller holds mu.
func (p *pair) mustWaitForWrites(r *qp.Request, number uint64) bool {
	cs := p.fast.Writes()
	if p.postedWrites == 0 && cs == 0 {
		return false
	}
	modes := p.queue.device.modes
	switch r.Op {
	case qp.Send:
		return modes&libfabric.WriteSend == 0
	case qp.Write:
		return modes&libfabric.WriteWrite == 0 &&
			(p.writesOfList != number || r.Pieces == 0 || cs > 0)
	case qp.Read:
		return modes&libfabric.WriteRead == 0
	}
	return modes&(libfabric.WriteRead|libfabric.WriteWrite) != libfabric.WriteRead|
		libfabric.WriteWrite
}

// postRequest posts a request to the provider; posted is false if it has to wait. The caller holds
// mu.
func (p *pair) postRequest(r *qp.Request, d []qp.Data, copied []byte, number uint64) (posted bool,
	err error) {
	if code := p.fast.Failed(); code != 0 {
		return false, libfabric.Error(code)
	}
	if p.postedRequests >= p.queue.device.maxPosted || p.mustWaitForWrites(r, number) {
		// completions of C's requests do not call postWaiting
		if p.postedRequests == 0 || p.fast.Writes() > 0 {
			p.retryLater()
		}
		return false, nil
	}
	q := p.queue
	write := r.Op != qp.Send && r.Op != qp.Read
	at := q.requestSlots.acquire(slotUser{p, number, write})
	if at < 0 {
		p.retryLater()
		return false, nil
	}
	p.buildRequest(r, d, copied, at)
	p.postedRequests++ // before the thread that polls may find its completion
	if write {
		p.postedWrites++
		p.writesOfList = number
	}
	again, err := q.endpoint.Post(p.scratch)
	if !again && err == nil {
		if r.Op == qp.Send {
			p.nextSent = nextNumber(p.nextSent)
		}
		return true, nil
	}
	q.requestSlots.releaseSlot(at)
	p.postedRequests--
	if write {
		p.postedWrites--
	}
	if again {
		p.retryLater()
	}
	return false, err
}

// retryLater has the thread that polls call retryPosting. The caller holds mu.
func (p *pair) retryLater() {
	if !p.isStalled {
		p.isStalled = true
		p.queue.addStalled(p)
	}
}

// buildRequest makes the request of the provider in scratch, for the slot at. The caller holds mu.
func (p *pair) buildRequest(r *qp.Request, d []qp.Data, copied []byte, at int32) {
	q, x, slot := p.queue, p.scratch, p.queue.requestSlots.bytes(at)
	base := q.requestSlots.addr(at)
	x.To, x.Context = p.remoteAddr, base
	x.Op, x.Flags, x.Pieces = uint32(r.Op), libfabric.Completion, 0
	add := func(addr uintptr, n int, desc libfabric.Desc) {
		x.Piece[x.Pieces] = libfabric.Piece{Addr: addr, Bytes: uintptr(n), Desc: desc}
		x.Pieces++
	}
	if r.Flags&qp.Inline != 0 {
		if copied == nil {
			copied = copyOf(d)
		}
		add(base+copiedAt, copy(slot[copiedAt:], copied), q.requestSlots.desc)
	} else {
		for i := range d {
			add(uintptr(d[i].Addr), int(d[i].Bytes), q.device.descs.descOf(d[i].Key))
		}
	}
	end := trailer{p.remote.pair, p.nextSent, p.remote.token}
	switch r.Op {
	case qp.Write, qp.CompareSwap, qp.FetchAdd:
		x.Flags = q.device.writeFlags
	}
	if r.Op == qp.Write && r.Pieces == 0 {
		// an empty write asks whether the other end is there, and says what was sent
		x.Op, end.number = uint32(qp.Send), pulseNumber
		binary.LittleEndian.PutUint32(slot[copiedAt:], p.nextSent)
		add(base+copiedAt, pulseBytes, q.requestSlots.desc)
	}
	if x.Op == uint32(qp.Send) {
		if r.Pieces == 0 {
			// the last message, or a pulse: it may be lost when the endpoint is closed
			// before it is delivered
			x.Flags = q.device.writeFlags
		}
		end.encode(slot[trailerAt:])
		add(base+trailerAt, trailerBytes, q.requestSlots.desc)
		return
	}
	there := p.remoteMemory(r.Key)
	x.Remote, x.Key = r.Remote-there.base, there.key
	if r.Op == qp.CompareSwap || r.Op == qp.FetchAdd {
		p.writeOperands(r, slot, base)
	}
}

// writeOperands writes the operands of an atomic into its slot. The caller holds mu.
func (p *pair) writeOperands(r *qp.Request, slot []byte, base uintptr) {
	x, ne := p.scratch, binary.NativeEndian
	x.Operand, x.Compare, x.Operands = base+operandAt, base+compareAt, p.queue.requestSlots.desc
	if r.Op == qp.FetchAdd {
		ne.PutUint64(slot[operandAt:], r.Operand)
		return
	}
	ne.PutUint64(slot[operandAt:], r.Swap)
	ne.PutUint64(slot[compareAt:], r.Operand)
}

// remoteMemory is the remote memory of a key. The caller holds mu.
func (p *pair) remoteMemory(key uint64) remoteRegion {
	x, ok := p.remoteMemories[key]
	if !ok {
		x = p.queue.device.remoteRegionOf(key)
		p.remoteMemories[key] = x
	}
	return x
}
