// SPDX-License-Identifier: BSD-3-Clause
// Waits until a condition on memory is met that ranks of any node change. A rank of this node that
// changes the memory calls shm_wake_waiters; so does the data server for what comes from other
// nodes. What a device stores, or another thread of the program, wakes no waiter.
#define _GNU_SOURCE
#include <sched.h>

#include "shm.h"

enum {
	MILLISECOND = 1000000,
	LONGEST_SLEEP = 50,   // ms
	SLEEP_PART = 16,      // a sleep lasts 1 ms and this part of the time that was waited
	LONG_LOOK = 200000,   // ns for which a wait looks while no other thread wants the core
	LOOKS = 16,           // between two yields meanwhile
};

// sleep_millis returns the length of the next sleep of a wait that began at `begin`; 0: its time is
// over. The first one is short: a rank of this node reads watchers without a fence behind what it
// has stored, so it may miss a waiter that has just counted itself.
static unsigned sleep_millis(const struct shm_until *u, uint64_t begin)
{
	uint64_t waited = (wait_clock() - begin) / MILLISECOND, next = waited / SLEEP_PART + 1;
	if (u->millis >= 0 && waited >= (uint64_t)u->millis)
		return 0;
	if (u->millis >= 0 && next > (uint64_t)u->millis - waited)
		next = (uint64_t)u->millis - waited;
	return next < LONGEST_SLEEP ? (unsigned)next : LONGEST_SLEEP;
}

static bool is_met(void *arg)
{
	const struct shm_until *u = arg;
	return u->met(u->arg) != 0;
}

// look_longer looks where the policy would sleep, in a job of one node, as long as yields run no
// other thread: so it costs none anything. The awaited rank may be copying a megabyte.
static bool look_longer(struct shm_until *u, uint64_t begin)
{
	if (shm_crowded() || shm.head->world > (uint32_t)shm.nlocal)
		return false;
	for (uint64_t now = wait_clock(), before; now - begin < LONG_LOOK;) {
		for (int i = 0; i < LOOKS; i++) {
			if (is_met(u))
				return true;
			cpu_relax();
		}
		before = wait_clock();
		sched_yield();
		now = wait_clock();
		if (now - before >= shm.policy.own_yield)
			return false;
	}
	return is_met(u);
}

// sleep_until_met sleeps until the condition is met, or the time is over.
static bool sleep_until_met(struct shm_visit *v, struct shm_until *u, uint64_t begin)
{
	struct shm_rank *r = &shm.rank[shm.me];
	bool met;
	atomic_fetch_add(&r->sleepers, 1);
	atomic_fetch_add(&r->watchers, 1);
	for (int because = -1;;) {
		uint32_t seen = atomic_load(&r->wake_word);
		atomic_thread_fence(memory_order_seq_cst);
		unsigned millis = sleep_millis(u, begin);
		if ((met = is_met(u)) || millis == 0)
			break;
		if (because >= 0)
			shm.stuck(u->what, because);
		shm_sleep_on(v, SHM_ANY, &r->wake_word, seen, millis);
		because = u->millis < 0 ? shm_departed_peer(-1) : -1;
	}
	atomic_fetch_sub(&r->watchers, 1);
	atomic_fetch_sub(&r->sleepers, 1);
	shm_end_visit(v, met);
	return met;
}

bool shm_wait_until(struct shm_until *u)
{
	if (u->met(u->arg))
		return true;
	if (u->millis == 0)
		return false;
	struct wait w;
	struct shm_visit visit;
	uint64_t begin = wait_clock();
	if (shm_poll_receiving(&w, &visit, is_met, u, SHM_ANY) || look_longer(u, begin)) {
		shm_end_visit(&visit, true);
		return true;
	}
	bool met = sleep_until_met(&visit, u, begin);
	shm_wait_woken(&w, atomic_load_explicit(&shm.rank[shm.me].woken_at, memory_order_relaxed));
	return met;
}
