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

// A wait in progress.
struct waiting {
	const struct shm_until *until;
	uint64_t begin, end; // ns; end 0: no limit
	unsigned looks;
	bool met;
};

static bool is_over(const struct waiting *w) { return w->end && wait_clock() >= w->end; }

// is_met also ends a wait at its limit of time: the waiter may be receiving all the time. It does
// not look at a condition again that is met.
static bool is_met(void *arg)
{
	struct waiting *w = arg;
	w->met = w->met || w->until->met(w->until->arg);
	return w->met || (w->end && ++w->looks % LOOKS == 0 && is_over(w));
}

// sleep_millis returns the length of the next sleep; 0: the time is over. The first one after
// `counted`, when the waiter counted itself, is short: a rank of this node reads watchers without a
// fence behind what it has stored, so it may have missed the waiter.
static unsigned sleep_millis(const struct waiting *w, uint64_t counted)
{
	uint64_t now = wait_clock(), next = (now - counted) / MILLISECOND / SLEEP_PART + 1;
	if (w->end && now >= w->end)
		return 0;
	uint64_t left = w->end ? (w->end - now + MILLISECOND - 1) / MILLISECOND : LONGEST_SLEEP;
	next = next < left ? next : left;
	return next < LONGEST_SLEEP ? (unsigned)next : LONGEST_SLEEP;
}

// look_longer looks where the policy would sleep, in a job of one node, as long as yields run no
// other thread: so it costs none anything. The awaited rank may be copying a megabyte.
static bool look_longer(struct waiting *w)
{
	if (shm_crowded() || shm.head->world > (uint32_t)shm.nlocal)
		return false;
	for (uint64_t now = wait_clock(), before; now - w->begin < LONG_LOOK;) {
		for (int i = 0; i < LOOKS; i++) {
			if (is_met(w))
				return true;
			cpu_relax();
		}
		before = wait_clock();
		sched_yield();
		now = wait_clock();
		if (now - before >= shm.policy.own_yield)
			return false;
	}
	return is_met(w);
}

// sleep_until_met sleeps until the condition is met, or the time is over.
static void sleep_until_met(struct shm_visit *v, struct waiting *w)
{
	struct shm_rank *r = &shm.rank[shm.me];
	unsigned millis;
	atomic_fetch_add(&r->sleepers, 1);
	atomic_fetch_add(&r->watchers, 1);
	uint64_t counted = wait_clock();
	for (int because = -1;;) {
		uint32_t seen = atomic_load(&r->wake_word);
		atomic_thread_fence(memory_order_seq_cst);
		if (is_met(w) || (millis = sleep_millis(w, counted)) == 0)
			break;
		if (because >= 0)
			shm.stuck(w->until->what, because);
		shm_sleep_on(v, SHM_ANY, &r->wake_word, seen, millis);
		because = w->end ? -1 : shm_departed_peer(-1);
	}
	atomic_fetch_sub(&r->watchers, 1);
	atomic_fetch_sub(&r->sleepers, 1);
}

bool shm_wait_until(const struct shm_until *u)
{
	if (u->met(u->arg))
		return true;
	if (u->millis == 0)
		return false;
	struct wait policy;
	struct shm_visit visit;
	struct waiting w = {.until = u, .begin = wait_clock()};
	if (u->millis > 0)
		w.end = w.begin + (uint64_t)u->millis * MILLISECOND;
	bool looked = shm_poll_receiving(&policy, &visit, is_met, &w, SHM_ANY) || look_longer(&w);
	if (!looked)
		sleep_until_met(&visit, &w);
	shm_end_visit(&visit, w.met);
	if (!looked)
		shm_wait_woken(&policy, 0);
	return w.met;
}
