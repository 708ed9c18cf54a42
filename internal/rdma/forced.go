// SPDX-License-Identifier: BSD-3-Clause

// The papers' protocols of contiguous transfers that the cost model never chooses and that only
// ARMCI_CONTIGUOUS forces (docs/protocols.md), so that what pipelining, keeping memory
// registered and registering it meanwhile gain can be measured. Each is the usual transfer
// (direct.go, local.go) without one of these.
package rdma

import (
	"libarmci/internal/kernel"
	"libarmci/internal/pin"
	"libarmci/internal/transport"
)

// firstRegistration is how many bytes are registered while the first piece is in flight, by the
// overlap protocol. Each following registration has twice as many.
const firstRegistration = 64 << 10

// applyForcedProtocol changes the plan of a contiguous transfer by a setting that forces a
// protocol.
func (m *directTransfer) applyForcedProtocol() {
	m.plan.oneAtATime, m.plan.registerStep = false, 0
	if !m.plan.contiguous || m.xfer.Copied {
		return
	}
	switch m.origin.fabric.cfg.Contiguous {
	case transport.ByCopyAlone, transport.ByRegister:
		m.plan.oneAtATime = true
	case transport.ByOverlap:
		m.plan.registerStep, m.plan.registerFrom = firstRegistration, neverRegister
	}
}

// neverRegister is longer than any run.
const neverRegister = 1 << 62

// openRegistrationCache makes the cache of registered memory, or one that keeps nothing where a
// setting forces that.
func openRegistrationCache(f *Fabric, budget int64, onDemand bool) *pin.Cache {
	if c := f.cfg.Contiguous; c == transport.ByRegister || c == transport.ByOverlap {
		return pin.Uncached(f.transferRegistrar, budget)
	}
	return pin.Open(f.transferRegistrar, budget, onDemand)
}

// Counts is what ARMCI_STATS prints about the registration cache.
func (f *Fabric) Counts() []transport.Count {
	takes, hits := f.regCache.Hits()
	return []transport.Count{{Name: "registration cache: look-ups", Value: takes},
		{Name: "registration cache: hits", Value: hits}}
}

// awaitPosted waits until all that has been posted is complete.
func (m *directTransfer) awaitPosted() error {
	mark := m.origin.inflight.nextNumber()
	return m.origin.awaitCondition(func() bool { return !m.origin.inflight.isOpen(mark) })
}

// copyFirstChunk sends the first chunk of a transfer through a buffer if local memory is not
// registered: the rest is registered while it is in flight, and all local memory is registered from
// then on. The caller has called prepare, and has acquired the queues.
func (m *directTransfer) copyFirstChunk() error {
	ok, err := m.lookUpLocal(m.walk.Peek(1))
	if err == nil && !ok {
		m.walk.Settle()
		err = m.postCopied()
	}
	m.plan.registerFrom = 1
	return err
}

// registerRun registers local memory from the beginning of a run on; nil if that is refused. The
// chain is posted before, so that it is in flight meanwhile.
func (m *directTransfer) registerRun(r *kernel.Run) (*pin.Entry, error) {
	err := m.flushChain()
	if err == nil && m.plan.oneAtATime {
		err = m.awaitPosted()
	}
	if err != nil {
		return nil, err
	}
	n := r.Bytes
	if m.plan.registerStep > 0 {
		n, m.plan.registerStep = min(n, m.plan.registerStep), 2*m.plan.registerStep
	}
	return m.origin.fabric.regCache.Acquire(r.Local, n), nil
}
