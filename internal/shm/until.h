// SPDX-License-Identifier: BSD-3-Clause
// until.h - part of shm.h: waits until a condition on memory is met.
#ifndef ARMCI_SHM_UNTIL_H
#define ARMCI_SHM_UNTIL_H

// A wait: until met(arg) is not zero, or for `millis` milliseconds at most (negative: no limit).
// `what` names the call that waits, for the report of a wait that can never end.
struct shm_until {
	int (*met)(void *);
	void *arg;
	int millis;
	const char *what;
};
// shm_wait_until reports whether the condition is met.
bool shm_wait_until(const struct shm_until *u);
// shm_wake_waiters wakes the threads of a local rank that sleep in shm_wait_until.
static inline void shm_wake_waiters(int local)
{
	if (atomic_load_explicit(&shm.rank[local].watchers, memory_order_relaxed))
		shm_wake_rank(local);
}
// shm_record_store wakes the waiters of a rank. The caller has just stored in its memory.
static inline void shm_record_store(int local)
{
	atomic_thread_fence(memory_order_seq_cst);
	shm_wake_waiters(local);
}

#endif
