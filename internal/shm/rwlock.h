// SPDX-License-Identifier: BSD-3-Clause
// rwlock.h - part of shm.h: locks for one writer or many readers, those of windows.
#ifndef ARMCI_SHM_RWLOCK_H
#define ARMCI_SHM_RWLOCK_H

// A lock for one writer or many readers, in zeroed arena memory. A rank that finds it taken queues
// at the gate, reader or writer alike: a reader passes it at once, a writer keeps it and waits
// until the readers have left. While the gate is free and its queue empty, a reader only counts
// itself (rwlock.c). Callers give their world rank + 1.
//
// Ranks of other nodes may hold it by their device's atomics on a word of their own, which counts
// their readers and has SHM_WORD_WRITER while one of them writes. Such a rank changes the word and
// then reads the lock: if a holder or a waiter of this node is in its way it undoes that, and has
// the data server lock for it. A rank of this node notes itself in the lock and then reads the
// word: if a holder there is in its way it waits. So one of the two sees the other.
struct shm_rwlock {
	struct shm_mutex gate;
	SHM_ALIGNED shm_u32 readers; // that hold it, or are about to find that they do not
	shm_u32 draining;            // 1: a writer has the gate and sleeps until readers is 0
	uint64_t word;               // its address, set before another rank knows the lock; 0: none
};
#define SHM_WORD_WRITER (1ull << 32)

void shm_share_slow(struct shm_rwlock *l, uint32_t who);
void shm_unshare_slow(struct shm_rwlock *l);
void shm_drain(struct shm_rwlock *l); // of a writer with the gate: waits until no reader is left
// Wait for some microseconds at most. If false, the caller must call the function for queued ranks,
// with the ticket.
bool shm_share_soon(struct shm_rwlock *l, uint32_t who, uint64_t *ticket);
bool shm_exclude_soon(struct shm_rwlock *l, uint32_t who, uint64_t *ticket);
void shm_share_queued(struct shm_rwlock *l, uint32_t who, uint64_t ticket);
void shm_exclude_queued(struct shm_rwlock *l, uint32_t who, uint64_t ticket);

// What the word has.
static inline uint64_t shm_word(const struct shm_rwlock *l)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)(uintptr_t)l->word;
	return word ? atomic_load_explicit(word, memory_order_seq_cst) : 0;
}
// No writer is there.
static inline bool shm_word_read(struct shm_rwlock *l) { return shm_word(l) < SHM_WORD_WRITER; }
// No reader of this node is there.
static inline bool shm_unread(struct shm_rwlock *l)
{
	return atomic_load_explicit(&l->readers, memory_order_seq_cst) == 0;
}
static inline bool shm_drained(struct shm_rwlock *l) { return shm_unread(l) && shm_word(l) == 0; }
static inline void shm_unshare(struct shm_rwlock *l)
{
	// In one order with the writer's store of draining and load of readers.
	if (atomic_fetch_sub_explicit(&l->readers, 1, memory_order_seq_cst) == 1 &&
	    atomic_load_explicit(&l->draining, memory_order_seq_cst))
		shm_unshare_slow(l);
}
// A writer takes the gate and then looks for readers; a reader counts itself and then looks at the
// gate: one of them sees both.
static inline bool shm_tryshare(struct shm_rwlock *l)
{
	uint32_t next = atomic_load_explicit(&l->gate.next, memory_order_relaxed);
	if (atomic_load_explicit(&l->gate.owner, memory_order_relaxed) != 0 ||
	    next != atomic_load_explicit(&l->gate.serving, memory_order_relaxed))
		return false;
	atomic_fetch_add_explicit(&l->readers, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&l->gate.owner, memory_order_seq_cst) == 0 && shm_word_read(l))
		return true;
	shm_unshare(l);
	return false;
}
static inline void shm_share(struct shm_rwlock *l, uint32_t who)
{
	if (!shm_tryshare(l))
		shm_share_slow(l, who);
}
static inline void shm_exclude(struct shm_rwlock *l, uint32_t who)
{
	shm_lock(&l->gate, who);
	if (!shm_drained(l))
		shm_drain(l);
}
static inline void shm_unexclude(struct shm_rwlock *l) { shm_unlock(&l->gate); }

#endif
