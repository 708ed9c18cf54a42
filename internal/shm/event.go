// SPDX-License-Identifier: BSD-3-Clause

// The Go side of events that a device writes: each method is one call of C (event.c).
package shm

// #include "shm.h"
import "C"

// EventCount returns the count of an event, or that in a raiser's record of an event.
func (m *Node) EventCount(e uintptr) uint32 { return uint32(C.shm_event_count(eventAt(e))) }

// EventSoon polls an event for a count other than seen, without sleeping.
func (m *Node) EventSoon(e uintptr, seen uint32) bool {
	return bool(C.shm_event_soon(eventAt(e), C.uint32_t(seen)))
}

// EventSent records that a device has been asked to write the count. True: a waiter has left a
// mark, and the caller must send it the count.
func (m *Node) EventSent(record uintptr, count uint32) bool {
	return bool(C.shm_event_sent(eventAt(record), C.uint32_t(count)))
}

// EventAsk leaves a waiter's mark in a raiser's record. True: the awaited count has already been
// written, and the caller must send it to the waiter.
func (m *Node) EventAsk(record uintptr, want uint32) bool {
	return bool(C.shm_event_ask(eventAt(record), C.uint32_t(want)))
}

// EventTold wakes the waiters of an event if its count has reached count; else it returns false.
func (m *Node) EventTold(e uintptr, count uint32) bool {
	return bool(C.shm_event_told(eventAt(e), C.uint32_t(count)))
}
