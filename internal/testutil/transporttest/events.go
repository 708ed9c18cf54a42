// SPDX-License-Identifier: BSD-3-Clause

// Events of a Cluster: counters that one lock and one condition variable serve.
package transporttest

import (
	"sync/atomic"
	"time"

	"libarmci/internal/kernel"
)

// nodeEvents implements transport.Events. Counts are in the arena; the marks of waiters are
// Cluster.state.eventMarks.
type nodeEvents struct{ *member }

const eventBytes = 64

// countOf is the count of the event at e.
func countOf(e uintptr) *atomic.Uint32 { return (*atomic.Uint32)(kernel.Ptr(e)) }

// EventBytes is the size of an event.
func (n *nodeEvents) EventBytes() int64 { return eventBytes }

// EventAdd raises the count and wakes all waiters.
func (n *nodeEvents) EventAdd(e uintptr,
	by uint32) {
	n.c.changeState(func() { countOf(e).Add(by) })
}

// EventCount is the count.
func (n *nodeEvents) EventCount(e uintptr) uint32 { return countOf(e).Load() }

// RecordEventSent records the count that was sent. asked is true if a waiter has asked; its mark
// stays until the count that it waits for is sent.
func (n *nodeEvents) RecordEventSent(record uintptr, count uint32) (asked bool) {
	n.c.changeState(func() {
		countOf(record).Store(count)
		var want uint32
		if want, asked = n.c.eventMarks[record]; asked && int32(count-want) >= 0 {
			delete(n.c.eventMarks, record)
		}
	})
	return asked
}

// RequestEventWake leaves the mark of a waiter, unless the count has been sent.
func (n *nodeEvents) RequestEventWake(record uintptr, want uint32) (sent bool) {
	n.c.changeState(func() {
		sent = int32(countOf(record).Load()-want) >= 0
		if !sent {
			n.c.eventMarks[record] = want
		}
	})
	return sent
}

// WakeEventWaiters wakes the waiters if the event has the count, which a device writes without a
// lock.
func (n *nodeEvents) WakeEventWaiters(e uintptr, count uint32) (there bool) {
	if there = int32(countOf(e).Load()-count) >= 0; there {
		n.c.changeState(func() {})
	}
	return there
}

// EventSoon checks the count once.
func (n *nodeEvents) EventSoon(e uintptr, seen uint32) bool { return countOf(e).Load() != seen }

// EventWait blocks until the count differs from seen, or until the time is over.
func (n *nodeEvents) EventWait(e uintptr, seen uint32, millis int, what string) bool {
	end := time.Now().Add(time.Duration(millis) * time.Millisecond)
	if millis >= 0 {
		defer time.AfterFunc(time.Until(end), func() { n.c.changeState(func() {}) }).Stop()
	}
	n.c.waitUntil(func() bool {
		return countOf(e).Load() != seen || millis >= 0 && !time.Now().Before(end)
	})
	return countOf(e).Load() != seen
}
