// SPDX-License-Identifier: BSD-3-Clause

// Counts stores at each rank since its last fence, so that a fence with nothing outstanding costs
// nothing. C reads these counters, and a C fast path counts its puts in them: transport/fast.h has
// the layout as struct traffic.
package core

import "sync/atomic"

// Traffic counts the stores of this process at one rank. Nothing is outstanding while both are
// equal.
type Traffic struct {
	Posted atomic.Uint32 // raised after a store has been handed to its transport
	// value of Posted up to which the stores are known to have taken effect
	Fenced atomic.Uint32
}

// isClean tells whether nothing is outstanding.
func (t *Traffic) isClean() bool { return t.Posted.Load() == t.Fenced.Load() }

// markFenced records that all stores up to a count have taken effect. Several fences may end in any
// order.
func (t *Traffic) markFenced(upTo uint32) {
	for {
		was := t.Fenced.Load()
		if int32(upTo-was) <= 0 || t.Fenced.CompareAndSwap(was, upTo) {
			return
		}
	}
}

// traffic has an entry for each rank, and one more for all together.
type traffic []Traffic

// countPosted counts a store at a rank, after the store has been posted.
func (t traffic) countPosted(proc int) {
	t[proc].Posted.Add(1)
	t[len(t)-1].Posted.Add(1)
}

// total counts the stores at all ranks.
func (t traffic) total() *Traffic { return &t[len(t)-1] }

// Traffic returns the counters for C: an entry for each rank and one for all together. Their
// address does not change.
func (t traffic) Traffic() []Traffic { return t }
