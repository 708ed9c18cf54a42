// SPDX-License-Identifier: BSD-3-Clause

// The Go side of notify counters: each method is one call of C (notify.c).
package shm

// #include "shm.h"
import "C"

import (
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

// notifications implements transport.Notifications.
type notifications struct {
	wakeFD sys.EventFD // wakes a waiter that sleeps where it receives (receive.c)
}

// Notify adds one to the counter of rank from at local rank to, wakes that rank, and returns the
// counter.
func (*notifications) Notify(to int, from transport.Rank) uint32 {
	return uint32(C.shm_notify(C.int(to), C.int(from)))
}

// RecordNotifySent records that a device has been asked to write this rank's counter at rank to.
// True: that rank has left a mark, and the caller must send it the count.
func (*notifications) RecordNotifySent(to transport.Rank, count uint32) bool {
	return bool(C.shm_notify_sent(C.int(to), C.uint32_t(count)))
}

// RequestNotifyWake leaves the mark of a waiter, rank by of another node, at local rank local.
// True: the awaited count has already been written, and the caller must send it to the waiter.
func (*notifications) RequestNotifyWake(local int, by transport.Rank, want uint32) bool {
	return bool(C.shm_notify_ask(C.int(local), C.int(by), C.uint32_t(want)))
}

// WakeNotified wakes local rank to if the counter of rank from there has reached want; else it
// returns false.
func (*notifications) WakeNotified(to int, from transport.Rank, want uint32) bool {
	return bool(C.shm_notified(C.int(to), C.int(from), C.uint32_t(want)))
}

// Counters returns the address range of the notify counters of all ranks of the node.
func (*notifications) Counters() (lo uintptr, n int64) {
	var bytes C.uint64_t
	at := C.shm_counters(&bytes)
	return uintptr(at), int64(bytes)
}

// NotifySoon polls a counter, and receives from other nodes meanwhile, without sleeping.
func (*notifications) NotifySoon(from transport.Rank, want uint32) bool {
	return bool(C.shm_notify_poll(C.int(from), C.uint32_t(want)))
}

// notifySoon is the first step of a wait in C (capi/notify.c). For tests.
func (*notifications) notifySoon(from transport.Rank, want uint32) bool {
	var got C.uint32_t
	return bool(C.shm_notify_soon(C.int(from), C.uint32_t(want), &got))
}

// NotifyWait waits until rank from has notified this rank want times, and returns the count.
func (*notifications) NotifyWait(from transport.Rank, want uint32) uint32 {
	return uint32(C.shm_notify_wait(C.int(from), C.uint32_t(want)))
}
