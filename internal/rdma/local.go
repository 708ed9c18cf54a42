// SPDX-License-Identifier: BSD-3-Clause

// The local side of transfers: memory of the arena is registered for good; of other memory long pieces are registered and
// stay so (package pin), on demand where the device can. What may not be pinned goes through buffers.
package rdma

import (
	"libarmci/internal/kernel"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// lendBytes is from where on it takes longer to copy than to register. Registered memory is used for less, too. Short rows
// are never registered: they may lie in as many pages.
const lendBytes = 64 << 10

// registrar registers memory with a protection domain.
type registrar struct {
	domain   domain
	onDemand bool // the device takes pages as it finds them
}

type domain interface {
	Register(addr uintptr, nbytes int64, remote bool) (*verbs.Region, error)
	RegisterOnDemand(addr uintptr, nbytes int64) (*verbs.Region, error)
}

type region struct{ *verbs.Region }

func (r region) Keys() (local, remote uint64) { return uint64(r.LKey), uint64(r.RKey) }

func (d *registrar) Register(addr uintptr, nbytes int64, shared bool) (pin.Registration, error) {
	var r *verbs.Region
	var err error
	if d.onDemand && !shared {
		r, err = d.domain.RegisterOnDemand(addr, nbytes)
	} else {
		r, err = d.domain.Register(addr, nbytes, shared)
	}
	if err != nil {
		return nil, err
	}
	return region{r}, nil
}

func pinBudget(o *Options, w *transport.OpenInfo) int64 {
	if o.Pin > 0 {
		return o.Pin
	}
	processes := 1
	if len(w.Nodes) > 0 { // else it is not in a job
		processes = len(w.Nodes[w.MyNode])
	}
	return pin.Budget(processes)
}

// local makes m.near the registered memory around the local address of a run, if there is some that may be used as it is.
// What is in the chain travels while memory is registered.
func (m *mover) local(r *kernel.Run) (ok bool, err error) {
	f := m.o.f
	if m.x.Copied || f.opt.Contiguous == buffered {
		return false, nil
	}
	if r.Local-m.near.Lo < m.near.Hi-m.near.Lo {
		return true, nil
	}
	if at := f.arena.Here(r.Local); at != nil {
		m.near = *at
		return true, nil
	}
	if f.cfg.Node.Inside(r.Local) {
		return false, nil
	}
	e := f.pins.Take(r.Local, 0)
	if e == nil && r.Bytes >= m.lendFrom {
		if err = m.flush(); err != nil {
			return false, err
		}
		e = f.pins.Take(r.Local, r.Bytes)
	}
	if e == nil {
		return false, nil
	}
	m.held = append(m.held, e)
	m.near = transport.Range{Lo: e.Lo, Hi: e.Hi, Key: e.Key, Direct: true}
	return true, nil
}

// Expose registers memory of this node for others.
func (f *Fabric) Expose(lo uintptr, n int64) []transport.Range { return f.arena.Expose(lo, n) }

// Here returns the registered memory of the arena around a local address.
func (f *Fabric) Here(addr uintptr) *transport.Range { return f.arena.Here(addr) }

// mostLent bounds memory that is registered for one transfer: rows may be far from each other.
const mostLent = 64 << 20

// Lend makes local memory writable for a target.
func (f *Fabric) Lend(lo, hi uintptr) (key uint64, release func(), ok bool) {
	if f.arena.Here(lo) != nil {
		r := f.arena.Shared(lo)
		return r.Key, func() {}, r.Direct && hi <= r.Hi
	}
	if hi-lo > mostLent || f.cfg.Node.Inside(lo) {
		return 0, nil, false
	}
	first, last := pin.Pages(lo, int64(hi-lo))
	r, err := f.device.Register(first, int64(last-first), true)
	if err != nil {
		return 0, nil, false
	}
	_, key = r.Keys()
	return key, func() { r.Close() }, true
}
