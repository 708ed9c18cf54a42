// SPDX-License-Identifier: BSD-3-Clause
// rwlock.h - part of shm.h: locks for one writer or many readers, those of windows.
#ifndef ARMCI_SHM_RWLOCK_H
#define ARMCI_SHM_RWLOCK_H

// A lock for one writer or many readers, in zeroed arena memory. A rank that finds it taken queues
// at the gate, reader or writer alike. The head of the queue takes the gate: a reader counts itself
// and releases it at once, a writer keeps it and waits until the readers have left. While the gate
// is free and its queue empty, a reader only counts itself (rwlock.c). Callers pass their world
// rank + 1.
//
// Ranks of other nodes may hold the lock by atomics of their device on a separate word. It counts
// their readers, and has SHM_WORD_WRITER while one of them writes. Such a rank changes the word and
// then reads the lock: if a holder or waiter of this node excludes it, it undoes its change and has
// the data server lock for it. A rank of this node changes the lock and then reads the word: if a
// holder there excludes it, it waits. So at least one of the two sees the other.
struct shm_rwlock {
	struct shm_mutex gate;
	// readers that hold the lock, or have counted themselves before they check that they do
	SHM_ALIGNED shm_u32 readers;
	shm_u32 draining;            // 1: a writer has the gate and sleeps until readers is 0
	// address of the word of other nodes; set before another rank knows the lock; 0: none
	uint64_t word;
};
#define SHM_WORD_WRITER (1ull << 32)

void shm_share_slow(struct shm_rwlock *l, uint32_t owner);
void shm_unshare_slow(struct shm_rwlock *l);
// shm_wait_for_readers waits until no reader is left. The caller is a writer that holds the gate.
void shm_wait_for_readers(struct shm_rwlock *l);
// Both wait for some microseconds at most. If false, the caller is in the queue and must call
// shm_share_queued or shm_exclude_queued with the ticket.
bool shm_share_soon(struct shm_rwlock *l, uint32_t owner, uint64_t *ticket);
bool shm_exclude_soon(struct shm_rwlock *l, uint32_t owner, uint64_t *ticket);
void shm_share_queued(struct shm_rwlock *l, uint32_t owner, uint64_t ticket);
void shm_exclude_queued(struct shm_rwlock *l, uint32_t owner, uint64_t ticket);

// shm_rwlock_word returns the value of the word; 0: free, or the lock has no word.
static inline uint64_t shm_rwlock_word(const struct shm_rwlock *l)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)(uintptr_t)l->word;
	return word ? atomic_load_explicit(word, memory_order_seq_cst) : 0;
}
// shm_no_remote_writer: no rank of another node writes.
static inline bool shm_no_remote_writer(struct shm_rwlock *l)
{
	return shm_rwlock_word(l) < SHM_WORD_WRITER;
}
// shm_no_local_reader: no rank of this node reads.
static inline bool shm_no_local_reader(struct shm_rwlock *l)
{
	return atomic_load_explicit(&l->readers, memory_order_seq_cst) == 0;
}
// shm_no_other_holder: no rank reads, and none of another node writes. The caller holds the gate.
static inline bool shm_no_other_holder(struct shm_rwlock *l)
{
	return shm_no_local_reader(l) && shm_rwlock_word(l) == 0;
}
static inline void shm_unshare(struct shm_rwlock *l)
{
	// seq_cst: in one order with the writer's store of draining and load of readers
	if (atomic_fetch_sub_explicit(&l->readers, 1, memory_order_seq_cst) == 1 &&
	    atomic_load_explicit(&l->draining, memory_order_seq_cst))
		shm_unshare_slow(l);
}
// shm_tryshare takes a free lock as a reader; false: it is taken or has a queue. A writer takes the
// gate and then reads readers; a reader counts itself and then reads the gate: one sees both.
static inline bool shm_tryshare(struct shm_rwlock *l)
{
	uint32_t next = atomic_load_explicit(&l->gate.next, memory_order_relaxed);
	if (atomic_load_explicit(&l->gate.owner, memory_order_relaxed) != 0 ||
	    next != atomic_load_explicit(&l->gate.serving, memory_order_relaxed))
		return false;
	atomic_fetch_add_explicit(&l->readers, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&l->gate.owner, memory_order_seq_cst) == 0 &&
	    shm_no_remote_writer(l))
		return true;
	shm_unshare(l);
	return false;
}
static inline void shm_share(struct shm_rwlock *l, uint32_t owner)
{
	if (!shm_tryshare(l))
		shm_share_slow(l, owner);
}
static inline void shm_exclude(struct shm_rwlock *l, uint32_t owner)
{
	shm_lock(&l->gate, owner);
	if (!shm_no_other_holder(l))
		shm_wait_for_readers(l);
}
static inline void shm_unexclude(struct shm_rwlock *l) { shm_unlock(&l->gate); }

#endif
