// SPDX-License-Identifier: BSD-3-Clause

// The Go side of events: each method is one call of C (event.c).
package shm

// #include <stdlib.h>
// #include "shm.h"
// static inline uint64_t event_bytes(void) { return sizeof(struct shm_event); }
// static inline uint32_t count_of(struct shm_event *e) { return atomic_load(&e->count); }
// static inline void event_add(struct shm_event *e, uint32_t n) { shm_event_add(e, n); }
import "C"

import (
	"unsafe"

	"libarmci/internal/kernel"
)

// events implements transport.Events.
type events struct{}

func eventAt(addr uintptr) *C.struct_shm_event { return (*C.struct_shm_event)(kernel.Ptr(addr)) }

// EventBytes is the size of an event.
func (*events) EventBytes() int64 { return int64(C.event_bytes()) }

// EventAdd adds n to the count of an event, behind all earlier stores of the caller, and wakes the
// waiters of the event.
func (*events) EventAdd(e uintptr, n uint32) { C.event_add(eventAt(e), C.uint32_t(n)) }

// EventWait waits until the count of an event differs from seen; false: millis have passed.
// millis<0 means for ever: then a wait that can never end, since all ranks have left, ends the job
// with a message that names what, the call that waits.
func (*events) EventWait(e uintptr, seen uint32, millis int, what string) bool {
	if uint32(C.count_of(eventAt(e))) != seen {
		return true
	}
	text := C.CString(what)
	defer C.free(unsafe.Pointer(text))
	return bool(C.shm_event_wait(eventAt(e), C.uint32_t(seen), C.int(millis), text))
}

// EventCount returns the count of an event, or that in a raiser's record of an event.
func (*events) EventCount(e uintptr) uint32 { return uint32(C.shm_event_count(eventAt(e))) }

// EventSoon polls an event for a count other than seen, without sleeping.
func (*events) EventSoon(e uintptr, seen uint32) bool {
	return bool(C.shm_event_soon(eventAt(e), C.uint32_t(seen)))
}

// RecordEventSent records that a device has been asked to write the count. True: a waiter has left
// a mark, and the caller must send it the count.
func (*events) RecordEventSent(record uintptr, count uint32) bool {
	return bool(C.shm_event_sent(eventAt(record), C.uint32_t(count)))
}

// RequestEventWake leaves a waiter's mark in a raiser's record. True: the awaited count has already
// been written, and the caller must send it to the waiter.
func (*events) RequestEventWake(record uintptr, want uint32) bool {
	return bool(C.shm_event_ask(eventAt(record), C.uint32_t(want)))
}

// WakeEventWaiters wakes the waiters of an event if its count has reached count; else it returns
// false.
func (*events) WakeEventWaiters(e uintptr, count uint32) bool {
	return bool(C.shm_event_told(eventAt(e), C.uint32_t(count)))
}
