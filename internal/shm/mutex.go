// SPDX-License-Identifier: BSD-3-Clause

// The Go side of mutexes: each method is one call of C (lock.c).
package shm

// #include "shm.h"
// static inline uint64_t mutex_bytes(void) { return sizeof(struct shm_mutex); }
// static inline uint32_t mutex_owner(struct shm_mutex *m) { return atomic_load(&m->owner); }
// static inline struct shm_mutex *rank_mutex(int local) { return &shm.rank[local].own; }
// static inline void lock(struct shm_mutex *m, uint32_t owner) { shm_lock(m, owner); }
// static inline void unlock(struct shm_mutex *m) { shm_unlock(m); }
import "C"

import (
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// mutexes implements transport.Mutexes.
type mutexes struct{}

func mutexAt(addr uintptr) *C.struct_shm_mutex {
	return (*C.struct_shm_mutex)(kernel.Ptr(addr))
}

// MutexBytes is the size of a mutex.
func (*mutexes) MutexBytes() int64 { return int64(C.mutex_bytes()) }

// RankMutex returns the address of the mutex that belongs to a local rank.
func (*mutexes) RankMutex(local int) uintptr {
	return uintptr(unsafe.Pointer(C.rank_mutex(C.int(local))))
}

// Lock waits for a mutex.
func (*mutexes) Lock(addr uintptr, owner transport.Rank) {
	C.lock(mutexAt(addr), C.uint32_t(owner+1))
}

// LockSoon is Lock that waits for a few microseconds at most. If it returns false, the caller is in
// the queue and must call LockQueued with the ticket.
func (*mutexes) LockSoon(addr uintptr, owner transport.Rank) (ticket uint32, got bool) {
	var t C.uint32_t
	got = bool(C.shm_lock_soon(mutexAt(addr), C.uint32_t(owner+1), &t))
	return uint32(t), got
}

// LockQueued waits for a mutex with the ticket of LockSoon.
func (*mutexes) LockQueued(addr uintptr, owner transport.Rank, ticket uint32) {
	C.shm_lock_queued(mutexAt(addr), C.uint32_t(owner+1), C.uint32_t(ticket))
}

// TryLock takes a mutex if it is free and its queue is empty.
func (*mutexes) TryLock(addr uintptr, owner transport.Rank) bool {
	return bool(C.shm_trylock(mutexAt(addr), C.uint32_t(owner+1)))
}

// Unlock releases a mutex.
func (*mutexes) Unlock(addr uintptr) { C.unlock(mutexAt(addr)) }

// PassOn: see transport.Mutexes.
func (*mutexes) PassOn(addr uintptr, to transport.Rank) bool {
	return bool(C.shm_pass_on(mutexAt(addr), C.uint32_t(to+1)))
}

// MutexOwner returns the rank that holds a mutex; false: it is free.
func (*mutexes) MutexOwner(addr uintptr) (transport.Rank, bool) { return mutexOwner(addr) }

func mutexOwner(addr uintptr) (transport.Rank, bool) {
	w := C.mutex_owner(mutexAt(addr))
	return transport.Rank(int(w) - 1), w != 0
}
