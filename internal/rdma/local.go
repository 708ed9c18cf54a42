// SPDX-License-Identifier: BSD-3-Clause

// The local side of transfers. Memory of the arena is registered until the end. Of other memory
// long pieces are registered and stay so (package pin), with on-demand paging where the device has
// it. What cannot be registered goes through send buffers.
package rdma

import (
	"libarmci/internal/kernel"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

// registerBytes is the length from which on copying takes longer than registering. Memory that is
// registered already is used for shorter pieces, too. Short rows are not registered for one
// transfer: each may lie in another page.
const registerBytes = 64 << 10

// registerAgainBytes is the same for memory that has been copied so often that registering it would
// have taken less time: from then on C makes such transfers.
const registerAgainBytes = 8 << 10

// registrar registers memory with a protection domain.
type registrar struct {
	domain   domain
	onDemand bool // the device has on-demand paging: nothing is pinned
}

// domain is the protection domain of a device, which registers memory.
type domain interface {
	Register(addr uintptr, nbytes int64, access qp.Access) (qp.Region, error)
}

// Register implements pin.Device. shared memory may be accessed by peers.
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

// lookUpLocal makes localRange the registered memory around the local address of a run. ok is false
// if the run has to be copied. The chain is posted before memory is registered.
func (m *directTransfer) lookUpLocal(r *kernel.Run) (ok bool, err error) {
	f := m.origin.fabric
	if m.xfer.Copied || f.cfg.Copies() {
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
	if f.cfg.Node.InArena(r.Local) {
		return false, nil
	}
	e := f.regCache.Acquire(r.Local, 0)
	if e == nil && r.Bytes >= m.plan.registerFrom {
		e, err = m.registerRun(r)
	}
	if e == nil {
		return false, err
	}
	m.registrations = append(m.registrations, e)
	m.localRange = transport.Range{Lo: e.Lo, Hi: e.Hi, Key: e.Key, Direct: true}
	return true, nil
}

// registerSpan registers all memory that the rows of a transfer are in, as far as the system
// allows. The first registration becomes localRange.
func (m *directTransfer) registerSpan(s transport.Span) {
	f := m.origin.fabric
	if s.Hi-s.Lo > maxRegisteredSpan || f.cfg.Copies() || f.cfg.Lends() ||
		f.cfg.Node.InArena(s.Lo) {
		return
	}
	for at := s.Lo; at < s.Hi; {
		e := f.regCache.Acquire(at, int(s.Hi-at))
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

// permanentRange returns the range around a local address that stays registered, nil if there is
// none. From then on C uses that range, too.
func (m *directTransfer) permanentRange(local uintptr) *transport.Range {
	at := m.origin.fabric.LocalRange(local)
	if at != nil {
		key := m.origin.fabric.device.LocalKey(at.Key)
		m.origin.queue.fast.AddLocal(local, at.Lo, at.Hi, key)
	}
	return at
}

// copyHistory counts the bytes that were copied lately, by the page where transfers begin. Memory
// that is used again and again is worth registering although copying it once takes less time.
type copyHistory [64]struct {
	page    uintptr // an entry is of one page at a time
	bytes   int64   // copied since it was last worth registering
	longest int64   // bytes of the longest transfer
	times   uint    // how often it was worth registering, with transfers of that length
}

// recordTransfer counts a copy of n bytes that begin at address lo. It reports whether the copies
// of that page have reached `most` bytes, so that registering it is worth its time. Each time the
// next one needs twice as many: memory that does not stay registered, since it is unmapped, is
// registered ever more rarely. A transfer longer than all before is taken for one of other memory.
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

// maxRegisteredSpan bounds memory that is registered for one transfer: rows may be far from each
// other.
const maxRegisteredSpan = 64 << 20

// RegisterTemporarily makes local memory [lo, hi) writable for a target, by the key that it
// returns. The caller calls release when no write is in flight any more. ok is false if the device
// cannot do that.
func (f *Fabric) RegisterTemporarily(lo, hi uintptr) (key uint64, release func(), ok bool) {
	if f.device.Limits().NoLending {
		return 0, nil, false
	}
	if r := f.Arena.LocalRange(lo); r != nil {
		return r.Key, func() {}, hi <= r.Hi
	}
	if hi-lo > maxRegisteredSpan || f.cfg.Node.InArena(lo) {
		return 0, nil, false
	}
	first, last := pin.Pages(lo, int64(hi-lo))
	r, err := f.transferRegistrar.Register(first, int64(last-first), true)
	if err != nil {
		return 0, nil, false
	}
	return r.Key(), func() { r.Close() }, true
}
