// SPDX-License-Identifier: BSD-3-Clause

// The papers' protocols of contiguous transfers that the cost model never chooses and that only
// ARMCI_RDMA_CONTIGUOUS forces (docs/protocols.md), so that what pipelining, keeping memory
// registered and registering it meanwhile gain can be measured. Each is the usual transfer
// (direct.go, local.go) without one of these.
package rdma

import (
	"libarmci/internal/kernel"
	"libarmci/internal/pin"
	"libarmci/internal/transport"
)

// firstStep is how much is registered while the first piece travels; what follows is twice as much
// each time.
const firstStep = 64 << 10

// force prepares what is forced upon a transfer.
func (m *mover) force() {
	m.alone, m.step = false, 0
	if !m.single || m.x.Copied {
		return
	}
	switch m.o.f.cfg.Contiguous {
	case transport.ByCopyAlone, transport.ByRegister:
		m.alone = true
	case transport.ByOverlap:
		m.step, m.lendFrom = firstStep, never
	}
}

// never is longer than any run.
const never = 1 << 62

// openPins makes the cache of registered memory, or one that keeps nothing where that is forced.
func openPins(f *Fabric, budget int64, onDemand bool) *pin.Cache {
	if c := f.cfg.Contiguous; c == transport.ByRegister || c == transport.ByOverlap {
		return pin.Uncached(f.device, budget)
	}
	return pin.Open(f.device, budget, onDemand)
}

// Counts is what ARMCI_STATS tells of the registration cache.
func (f *Fabric) Counts() []transport.Count {
	takes, hits := f.pins.Hits()
	return []transport.Count{{Name: "registration cache: look-ups", Value: takes},
		{Name: "registration cache: hits", Value: hits}}
}

// settle waits until all that has been posted is complete.
func (m *mover) settle() error {
	mark := m.o.ring.next()
	return m.o.await(func() bool { return !m.o.ring.open(mark) })
}

// ahead sends the first piece of a transfer through a buffer if local memory is not registered: the
// rest will be meanwhile.
func (m *mover) ahead() error {
	ok, err := m.local(m.walk.Peek(1))
	if err == nil && !ok {
		m.walk.Settle()
		err = m.stage()
	}
	m.lendFrom = 1
	return err
}

// register registers local memory from the beginning of a run on, nil if it cannot be. What is in
// the chain travels meanwhile.
func (m *mover) register(r *kernel.Run) (*pin.Entry, error) {
	err := m.flush()
	if err == nil && m.alone {
		err = m.settle()
	}
	if err != nil {
		return nil, err
	}
	n := r.Bytes
	if m.step > 0 {
		n, m.step = min(n, m.step), 2*m.step
	}
	return m.o.f.pins.Take(r.Local, n), nil
}
