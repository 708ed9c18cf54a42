// SPDX-License-Identifier: BSD-3-Clause

// Go's side of events that a device writes: one call of C each. No algorithm is here.
package shm

// #include "shm.h"
import "C"

// EventCount is the count of an event, or of a raiser's record of one.
func (m *Node) EventCount(e uintptr) uint32 { return uint32(C.shm_event_count(eventAt(e))) }

// EventSoon looks for another count without sleeping.
func (m *Node) EventSoon(e uintptr, seen uint32) bool {
	return bool(C.shm_event_soon(eventAt(e), C.uint32_t(seen)))
}

// EventSent notes in a record that a device has written so many; true: a waiter has asked to be
// told.
func (m *Node) EventSent(record uintptr, count uint32) bool {
	return bool(C.shm_event_sent(eventAt(record), C.uint32_t(count)))
}

// EventAsk has the raiser of a record tell a waiter; true: what that waits for has been written.
func (m *Node) EventAsk(record uintptr, want uint32) bool {
	return bool(C.shm_event_ask(eventAt(record), C.uint32_t(want)))
}

// EventTold wakes the waiters of an event if its count has come so far.
func (m *Node) EventTold(e uintptr, count uint32) bool {
	return bool(C.shm_event_told(eventAt(e), C.uint32_t(count)))
}
