// SPDX-License-Identifier: BSD-3-Clause

// The local side of transfers. Memory of the arena is registered until the end. Of other memory
// long pieces are registered and stay so (package pin), with on-demand paging where the device has
// it. What cannot be registered goes through buffers.
package rdma

import (
	"libarmci/internal/kernel"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

// lendBytes is the length from which on copying takes longer than registering. Memory that is
// registered already is used for shorter pieces, too. Short rows are not registered for one
// transfer: each may lie in another page.
const registerBytes = 64 << 10

// lendAgain is the same for memory that has been copied so often that registering it would have
// taken less time: from then on C makes such transfers.
const registerAgainBytes = 8 << 10

// registrar registers memory with a protection domain.
type registrar struct {
	domain   domain
	onDemand bool // the device has on-demand paging: nothing is pinned
}

type domain interface {
	Register(addr uintptr, nbytes int64, access qp.Access) (qp.Region, error)
}

func (d *registrar) Register(addr uintptr, nbytes int64, shared bool) (pin.Registration, error) {
	access := qp.Local
	switch {
	case shared:
		access = qp.Remote
	case d.onDemand:
		access = qp.OnDemand
	}
	return d.domain.Register(addr, nbytes, access)
}

// local makes m.near the registered memory around the local address of a run. ok is false if the
// run has to be copied. What is in the chain travels while memory is registered.
func (m *directTransfer) lookUpLocal(r *kernel.Run) (ok bool, err error) {
	f := m.origin.fabric
	if m.x.Copied || f.cfg.Copies() {
		m.permanentRange(r.Local)
		return false, nil
	}
	if r.Local-m.localRange.Lo < m.localRange.Hi-m.localRange.Lo {
		return true, nil
	}
	if at := m.permanentRange(r.Local); at != nil {
		m.localRange = *at
		return true, nil
	}
	if f.cfg.Node.Inside(r.Local) {
		return false, nil
	}
	e := f.registrations.Take(r.Local, 0)
	if e == nil && r.Bytes >= m.lendFrom {
		e, err = m.registerRun(r)
	}
	if e == nil {
		return false, err
	}
	m.registrations = append(m.registrations, e)
	m.localRange = transport.Range{Lo: e.Lo, Hi: e.Hi, Key: e.Key, Direct: true}
	return true, nil
}

// lend registers all memory that the rows of a transfer are in, as far as that goes.
func (m *directTransfer) registerSpan(s transport.Span) {
	f := m.origin.fabric
	if s.Hi-s.Lo > maxRegisteredSpan || f.cfg.Copies() || f.cfg.Lends() || f.cfg.Node.Inside(s.Lo) {
		return
	}
	for at := s.Lo; at < s.Hi; {
		e := f.registrations.Take(at, int(s.Hi-at))
		if e == nil {
			return
		}
		m.registrations = append(m.registrations, e)
		if at == s.Lo {
			m.localRange = transport.Range{Lo: e.Lo, Hi: e.Hi, Key: e.Key, Direct: true}
		}
		at = e.Hi
	}
}

// here is the range around local memory that stays registered, which C may use, too; nil:
// there is none.
func (m *directTransfer) permanentRange(local uintptr) *transport.Range {
	at := m.origin.fabric.Here(local)
	if at != nil {
		m.origin.queue.fast.AddLocal(local, at.Lo, at.Hi, m.origin.fabric.device.LocalKey(at.Key))
	}
	return at
}

// copied is how many bytes of which places have been moved lately, at a time by many: memory that
// is used again and again is worth registering although copying it once takes less time.
type copyHistory [64]struct {
	page    uintptr
	bytes   int64
	longest int64 // transfer
	times   uint  // that it has made so many, with transfers of this length
}

// enough adds a transfer of n bytes of memory that begins at an address, and tells whether it makes
// so many bytes; they are counted again from then on, up to twice as many each time: what does not
// stay registered, since it is unmapped, is registered ever more rarely. A longer transfer than
// before is of other memory.
func (c *copyHistory) recordTransfer(lo uintptr, n, most int64) bool {
	page := lo >> 12
	at := &c[page*0x9e3779b97f4a7c15>>58] // places are often a power of two apart
	if at.page != page {
		at.page, at.bytes, at.longest, at.times = page, 0, 0, 0
	}
	if n > at.longest {
		at.longest, at.times = n, 0
	}
	at.bytes += n
	if at.bytes>>at.times < most {
		return false
	}
	at.bytes, at.times = 0, min(at.times+1, 8)
	return true
}

// mostLent bounds memory that is registered for one transfer: rows may be far from each other.
const maxRegisteredSpan = 64 << 20

// Lend makes local memory writable for a target.
func (f *Fabric) Lend(lo, hi uintptr) (key uint64, release func(), ok bool) {
	if f.device.Limits().OneWay {
		return 0, nil, false
	}
	if r := f.Arena.Here(lo); r != nil {
		return r.Key, func() {}, hi <= r.Hi
	}
	if hi-lo > maxRegisteredSpan || f.cfg.Node.Inside(lo) {
		return 0, nil, false
	}
	first, last := pin.Pages(lo, int64(hi-lo))
	r, err := f.transferMemory.Register(first, int64(last-first), true)
	if err != nil {
		return 0, nil, false
	}
	return r.Key(), func() { r.Close() }, true
}
