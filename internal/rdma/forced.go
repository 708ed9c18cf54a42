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
const firstRegistration = 64 << 10

// force prepares what is forced upon a transfer.
func (m *directTransfer) applyForcedProtocol() {
	m.oneAtATime, m.registerStep = false, 0
	if !m.contiguous || m.x.Copied {
		return
	}
	switch m.origin.fabric.cfg.Contiguous {
	case transport.ByCopyAlone, transport.ByRegister:
		m.oneAtATime = true
	case transport.ByOverlap:
		m.registerStep, m.lendFrom = firstRegistration, neverRegister
	}
}

// never is longer than any run.
const neverRegister = 1 << 62

// openPins makes the cache of registered memory, or one that keeps nothing where that is forced.
func openRegistrationCache(f *Fabric, budget int64, onDemand bool) *pin.Cache {
	if c := f.cfg.Contiguous; c == transport.ByRegister || c == transport.ByOverlap {
		return pin.Uncached(f.transferMemory, budget)
	}
	return pin.Open(f.transferMemory, budget, onDemand)
}

// Counts is what ARMCI_STATS tells of the registration cache.
func (f *Fabric) Counts() []transport.Count {
	takes, hits := f.registrations.Hits()
	return []transport.Count{{Name: "registration cache: look-ups", Value: takes},
		{Name: "registration cache: hits", Value: hits}}
}

// settle waits until all that has been posted is complete.
func (m *directTransfer) awaitPosted() error {
	mark := m.origin.inflight.nextNumber()
	return m.origin.awaitCondition(func() bool { return !m.origin.inflight.isOpen(mark) })
}

// ahead sends the first piece of a transfer through a buffer if local memory is not registered: the
// rest will be meanwhile.
func (m *directTransfer) copyFirstChunk() error {
	ok, err := m.lookUpLocal(m.walk.Peek(1))
	if err == nil && !ok {
		m.walk.Settle()
		err = m.postCopied()
	}
	m.lendFrom = 1
	return err
}

// register registers local memory from the beginning of a run on, nil if it cannot be. What is in
// the chain travels meanwhile.
func (m *directTransfer) registerRun(r *kernel.Run) (*pin.Entry, error) {
	err := m.flushChain()
	if err == nil && m.oneAtATime {
		err = m.awaitPosted()
	}
	if err != nil {
		return nil, err
	}
	n := r.Bytes
	if m.registerStep > 0 {
		n, m.registerStep = min(n, m.registerStep), 2*m.registerStep
	}
	return m.origin.fabric.registrations.Take(r.Local, n), nil
}
