// SPDX-License-Identifier: BSD-3-Clause
// Notify counters: how often each rank of the job has notified each rank of the node. A device may
// write the counter of a rank of another node, and wakes no waiter. So a waiter leaves a mark at
// the notifier's node before it sleeps, and the notifier, which sees the mark, sends it the count.
#define _GNU_SOURCE
#include "shm.h"

// The three tables [rank of the node][rank of the job].
enum table {
	COUNT, // notifications from the rank of the job
	SENT,  // notifications to the rank of the job that a device was asked to write
	ASKED, // mark of the rank of the job, which waits for such a count (record.h)
};

// table_entry returns the entry of a local rank and a world rank in a table.
static shm_u32 *table_entry(enum table t, int local, int rank)
{
	uint64_t row = (uint64_t)t * (uint64_t)shm.nlocal + (uint64_t)local;
	return (shm_u32 *)(shm.base + shm.head->notify_off) + row * shm.head->world +
		(uint64_t)rank;
}

uint64_t shm_notify_bytes(uint64_t nlocal, uint64_t world)
{
	return 3 * nlocal * world * sizeof(uint32_t);
}

const void *shm_counters(uint64_t *bytes)
{
	*bytes = (uint64_t)shm.head->nlocal * shm.head->world * sizeof(uint32_t);
	return table_entry(COUNT, 0, 0);
}

uint32_t shm_notify(int to, int from)
{
	uint32_t n = atomic_fetch_add(table_entry(COUNT, to, from), 1) + 1;
	shm_wake_rank(to);
	return n;
}

// A wait until a counter is at least want.
struct notify_wait {
	shm_u32 *count;
	uint32_t want;
};

static bool count_reached(shm_u32 *count, uint32_t want)
{
	return (int32_t)(atomic_load(count) - want) >= 0;
}

static bool is_notified(void *arg)
{
	struct notify_wait *n = arg;
	return count_reached(n->count, n->want);
}

bool shm_notified(int local, int from, uint32_t want)
{
	if (!count_reached(table_entry(COUNT, local, from), want))
		return false;
	shm_wake_rank(local);
	return true;
}

bool shm_notify_soon(int from, uint32_t want, uint32_t *got)
{
	struct notify_wait n = {table_entry(COUNT, shm.me, from), want};
	struct wait w;
	int local = shm_local_of(from);
	// A waiter receives in Go, which the caller enters if this returns false.
	bool soon = local < 0 && shm.receive ? shm_poll_memory(is_notified, &n) :
	                                       shm_poll(&w, is_notified, &n, local);
	*got = atomic_load_explicit(n.count, memory_order_acquire);
	return soon;
}

bool shm_notify_poll(int from, uint32_t want)
{
	struct notify_wait n = {table_entry(COUNT, shm.me, from), want};
	struct wait w;
	return is_notified(&n) || shm_poll(&w, is_notified, &n, shm_local_of(from));
}

uint32_t shm_notify_wait(int from, uint32_t want)
{
	struct notify_wait n = {table_entry(COUNT, shm.me, from), want};
	int local = shm_local_of(from);
	shm_wait(is_notified, &n, "armci_notify_wait", local < 0 ? SHM_REMOTE : local);
	return atomic_load_explicit(n.count, memory_order_acquire);
}

bool shm_notify_sent(int to, uint32_t count)
{
	return record_sent(table_entry(SENT, shm.me, to), table_entry(ASKED, shm.me, to), count);
}

bool shm_notify_ask(int local, int by, uint32_t want)
{
	return record_ask(table_entry(SENT, local, by), table_entry(ASKED, local, by), want);
}
