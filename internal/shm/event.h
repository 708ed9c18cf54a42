// SPDX-License-Identifier: BSD-3-Clause
// event.h - part of shm.h: events, counters in arena memory that ranks of any node raise.
#ifndef ARMCI_SHM_EVENT_H
#define ARMCI_SHM_EVENT_H

// A counter that ranks of any node raise and processes of the node wait for, in zeroed arena
// memory. It is not aligned to a line, since windows have one for each pair of members. sleepers
// counts waiters that sleep on count.
struct shm_event {
	shm_u32 count, sleepers;
};
void shm_event_wake(struct shm_event *e);
// shm_event_wait waits until count differs from `seen`; false: millis have passed. millis < 0: for
// ever; then a wait that can never end ends the job, with a report that names the call `what`.
bool shm_event_wait(struct shm_event *e, uint32_t seen, int millis, const char *what);
// shm_event_soon polls for a short while, without sleeping, for a count other than `seen`.
bool shm_event_soon(struct shm_event *e, uint32_t seen);

// A device may write the count of an event that only one rank, of another node, raises. It wakes no
// waiter. So that rank has a record of the event in its own arena memory, with the count as last
// written, and a waiter's mark in place of sleepers (record.h). shm_event_sent stores the count;
// true: the caller must send it to the waiter. shm_event_ask leaves the mark; true: the count has
// already been written. shm_event_told wakes the waiters of an event if its count has reached
// `count`; else it returns false.
static inline uint32_t shm_event_count(struct shm_event *e) { return atomic_load(&e->count); }
bool shm_event_sent(struct shm_event *record, uint32_t count);
bool shm_event_ask(struct shm_event *record, uint32_t want);
bool shm_event_told(struct shm_event *e, uint32_t count);
// shm_event_add raises an event behind all earlier stores of the caller.
static inline void shm_event_add(struct shm_event *e, uint32_t n)
{
	atomic_fetch_add_explicit(&e->count, n, memory_order_seq_cst); // a full barrier, both ways
	if (atomic_load_explicit(&e->sleepers, memory_order_seq_cst))
		shm_event_wake(e);
}

#endif
