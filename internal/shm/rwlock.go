// SPDX-License-Identifier: BSD-3-Clause

// The Go side of reader/writer locks: each method is one call of C (rwlock.c).
package shm

// #include "shm.h"
// static inline uint64_t rwlock_bytes(void) { return sizeof(struct shm_rwlock); }
// static inline uint32_t readers(struct shm_rwlock *l) { return atomic_load(&l->readers); }
// static inline bool taken(const void *image, bool exclusive)
// {
// 	const struct shm_rwlock *l = image;
// 	bool gate = l->gate.owner != 0 || l->gate.next != l->gate.serving;
// 	return gate || (exclusive && l->readers != 0);
// }
// static inline void rw_lock(struct shm_rwlock *l, uint32_t owner, bool exclusive)
// {
// 	if (exclusive)
// 		shm_exclude(l, owner);
// 	else
// 		shm_share(l, owner);
// }
// static inline bool rw_soon(struct shm_rwlock *l, uint32_t owner, bool exclusive,
// 	uint64_t *ticket)
// {
// 	return exclusive ? shm_exclude_soon(l, owner, ticket) : shm_share_soon(l, owner, ticket);
// }
// static inline void rw_queued(struct shm_rwlock *l, uint32_t owner, bool exclusive,
// 	uint64_t ticket)
// {
// 	if (exclusive)
// 		shm_exclude_queued(l, owner, ticket);
// 	else
// 		shm_share_queued(l, owner, ticket);
// }
// static inline void rw_unlock(struct shm_rwlock *l, bool exclusive)
// {
// 	if (exclusive)
// 		shm_unexclude(l);
// 	else
// 		shm_unshare(l);
// }
import "C"

import (
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

func rwlockAt(addr uintptr) *C.struct_shm_rwlock { return (*C.struct_shm_rwlock)(kernel.Ptr(addr)) }

// rwLocks implements transport.RWLocks and transport.WordLocks.
type rwLocks struct{}

// RWLockBytes is the size of a reader/writer lock.
func (*rwLocks) RWLockBytes() int64 { return int64(C.rwlock_bytes()) }

// RWLock waits for a lock.
func (*rwLocks) RWLock(l uintptr, owner transport.Rank, exclusive bool) {
	C.rw_lock(rwlockAt(l), C.uint32_t(owner+1), C.bool(exclusive))
}

// RWLockSoon is RWLock that waits for a few microseconds at most. If it returns false, the caller
// is in the queue and must call RWLockQueued with the ticket.
func (*rwLocks) RWLockSoon(l uintptr, owner transport.Rank, exclusive bool) (ticket uint64,
	got bool) {
	var t C.uint64_t
	got = bool(C.rw_soon(rwlockAt(l), C.uint32_t(owner+1), C.bool(exclusive), &t))
	return uint64(t), got
}

// RWLockQueued waits for a lock with the ticket of RWLockSoon.
func (*rwLocks) RWLockQueued(l uintptr, owner transport.Rank, exclusive bool, ticket uint64) {
	C.rw_queued(rwlockAt(l), C.uint32_t(owner+1), C.bool(exclusive), C.uint64_t(ticket))
}

// RWUnlock releases a lock.
func (*rwLocks) RWUnlock(l uintptr, exclusive bool) { C.rw_unlock(rwlockAt(l), C.bool(exclusive)) }

// RWHeld reports whether a rank may hold a lock. Exclusive: the rank is the writer. Shared: the
// lock has readers, which are not known by rank.
func (*rwLocks) RWHeld(l uintptr, owner transport.Rank, exclusive bool) bool {
	if !exclusive {
		return C.readers(rwlockAt(l)) > 0
	}
	holder, held := mutexOwner(l) // the gate is the first field of a lock
	return held && holder == owner
}

// NameRWWord sets the word by which devices take a lock. No other rank knows the lock yet.
func (*rwLocks) NameRWWord(l, word uintptr) { rwlockAt(l).word = C.uint64_t(word) }

// RWTaken reports whether the copy of a lock in image shows it as taken (transport.WordLocks).
func (*rwLocks) RWTaken(image []byte, exclusive bool) bool {
	return bool(C.taken(unsafe.Pointer(unsafe.SliceData(image)), C.bool(exclusive)))
}

// The two names are for the same number.
const (
	_ = uint64(C.SHM_WORD_WRITER - transport.RWWordWriter)
	_ = uint64(transport.RWWordWriter - C.SHM_WORD_WRITER)
)
