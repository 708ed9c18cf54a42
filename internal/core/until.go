// SPDX-License-Identifier: BSD-3-Clause

// Waits for a condition on memory that other ranks change. C waits (shm/until.c); here is what is
// checked before, and the waiters' wake-up by a rank of their node.
package core

import "libarmci/internal/transport"

// BeginWaitUntil checks that there is a condition, and posts what the wait may depend on.
func (ec *eventCounters) BeginWaitUntil(hasCondition bool) error {
	if !hasCondition {
		return argErr(CodeArgument, "met", "null pointer")
	}
	ec.rt.coalescing.postCoalesced(everyRank)
	return nil
}

// WakeWaiters has the threads of a rank that wait for a condition look again. Those of another node
// are woken by what arrives there.
func (ec *eventCounters) WakeWaiters(proc int) error {
	if err := ec.rt.checkRank("proc", proc); err != nil {
		return err
	}
	if to := transport.Rank(proc); ec.rt.Topo.SameNode(to) {
		ec.rt.Memory.RecordStore(ec.rt.Topo.Local(to))
	}
	return nil
}
