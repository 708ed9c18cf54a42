// SPDX-License-Identifier: BSD-3-Clause

// The local side of transfers outside the arena: long pieces are registered and stay so (package pin), on demand where
// the device can. What may not be pinned goes through buffers. The arena comes first: other memory makes room.
package rdma

import (
	"fmt"

	"libarmci/internal/rdma/pin"
	"libarmci/internal/rdma/verbs"
)

// lendBytes is from where on it takes longer to copy than to register. Registered memory is used for less, too.
const lendBytes = 64 << 10

// lender registers memory of the application.
type lender struct {
	a        *arena
	onDemand bool
}

// lent is such memory.
type lent struct{ *verbs.Region }

func (r lent) Key() uint32 { return r.LKey }

// demander is a registrar of a device that pages on demand.
type demander interface {
	RegisterOnDemand(addr uintptr, nbytes int64) (*verbs.Region, error)
}

func (l lender) Register(addr uintptr, nbytes int64) (pin.Registration, error) {
	register := func() (*verbs.Region, error) { return l.a.domain.Register(addr, nbytes, false) }
	if d, ok := l.a.domain.(demander); ok && l.onDemand {
		register = func() (*verbs.Region, error) { return d.RegisterOnDemand(addr, nbytes) }
	}
	r, err := register()
	if err != nil {
		return nil, err
	}
	return lent{r}, nil
}

// openPins makes the cache of a process.
func openPins(o *Options, a *arena, limits *verbs.Limits) *pin.Cache {
	return pin.Open(lender{a, limits.OnDemand}, o.pinBudget(), limits.OnDemand)
}

func (o *Options) pinBudget() int64 {
	if o.Pin > 0 {
		return o.Pin
	}
	if len(o.Nodes) == 0 { // of a process that is not in a job
		return pin.Budget(1)
	}
	return pin.Budget(len(o.Nodes[o.MyNode]))
}

// pinNotes tells how local memory is registered, for armci_info.
func pinNotes(o *Options, limits *verbs.Limits) string {
	if limits.OnDemand {
		return "local memory registered on demand, not pinned"
	}
	if why := pin.Watching(); why != nil {
		return fmt.Sprintf("local memory registered for each transfer (%v), up to %d MiB", why, o.pinBudget()>>20)
	}
	return fmt.Sprintf("local memory stays registered, up to %d MiB", o.pinBudget()>>20)
}

// near is the registered memory around a local address that may be used as it is, if there is any: a piece of the
// arena, or of what the operation has taken for a run of n bytes. What is posted travels while memory is registered.
func (w *wire) near(local uintptr, n int, m *mover) (p piece, ok bool, err error) {
	a := w.t.arena
	if a.node.Inside(local) {
		if at := a.here(local); at != nil {
			return *at, true, nil
		}
		return p, false, nil
	}
	e := m.o.holds(local)
	if e == nil {
		if e = w.t.pins.Take(local, 0); e == nil && n >= m.lendFrom {
			if err = w.flush(m.op, m.o); err != nil {
				return p, false, err
			}
			e = w.t.pins.Take(local, n)
		}
		if e == nil {
			return p, false, nil
		}
		m.o.held = append(m.o.held, e)
	}
	return piece{e.Lo, e.Hi, e.Key, true}, true, nil
}

// holds is what the operation has taken last, if it is around an address.
func (o *op) holds(local uintptr) *pin.Entry {
	if n := len(o.held); n > 0 && o.held[n-1].Lo <= local && local < o.held[n-1].Hi {
		return o.held[n-1]
	}
	return nil
}
