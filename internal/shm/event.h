// SPDX-License-Identifier: BSD-3-Clause
// event.h - part of shm.h: events, counters in arena memory that ranks of any node raise.
#ifndef ARMCI_SHM_EVENT_H
#define ARMCI_SHM_EVENT_H

// A counter that others raise and processes of the node wait for, in zeroed arena memory.
// Not aligned: windows have one for each pair of members.
struct shm_event {
	shm_u32 count, sleepers;
};
void shm_event_wake(struct shm_event *e);
// Until count differs from `seen`, or for so many milliseconds, unless that is negative; then it
// may return false. `what` is what the caller does, for the report of a wait that never ends.
bool shm_event_wait(struct shm_event *e, uint32_t seen, int millis, const char *what);
// Looks for a short while, without sleeping, whether the count differs from `seen`.
bool shm_event_soon(struct shm_event *e, uint32_t seen);

// A device may write the count of an event that one rank of another node alone raises, and wakes no
// waiter. That rank keeps a record of it in arena memory of its own: the count as last written, and
// in place of sleepers the mark of a waiter that it has to tell (record.h). shm_event_sent stores
// the count; true: the caller must tell the waiter. shm_event_ask leaves the mark; true: the count
// has already been written. shm_event_told wakes the waiters of an event if its count has come so
// far; else false.
static inline uint32_t shm_event_count(struct shm_event *e) { return atomic_load(&e->count); }
bool shm_event_sent(struct shm_event *record, uint32_t count);
bool shm_event_ask(struct shm_event *record, uint32_t want);
bool shm_event_told(struct shm_event *e, uint32_t count);
// behind all earlier stores of the caller
static inline void shm_event_add(struct shm_event *e, uint32_t n)
{
	atomic_fetch_add_explicit(&e->count, n, memory_order_seq_cst); // a full barrier, both ways
	if (atomic_load_explicit(&e->sleepers, memory_order_seq_cst))
		shm_event_wake(e);
}

#endif
