// SPDX-License-Identifier: BSD-3-Clause
// The waiting half of the node's mutexes: a ticket queue whose head competes with a bounded number of newcomers.
// A strict hand-over would cost a context switch per lock when ranks outnumber cores; unbounded barging would starve.
// It does not detect dead owners: a rank that dies ends the job (watch.go).
#define _GNU_SOURCE
#include <sched.h>

#include "shm.h"

#define SHM_BARGE 64u // newcomers that may pass the queue in a row

static bool take(struct shm_mutex *m, uint32_t who)
{
	uint32_t none = 0;
	return atomic_load_explicit(&m->owner, memory_order_relaxed) == 0 &&
	       atomic_compare_exchange_strong_explicit(&m->owner, &none, who, memory_order_acquire, memory_order_relaxed);
}

bool shm_trylock(struct shm_mutex *m, uint32_t who)
{
	return atomic_load_explicit(&m->next, memory_order_relaxed) == atomic_load_explicit(&m->serving, memory_order_relaxed) &&
	       take(m, who);
}

static void ask_owner(struct shm_mutex *m)
{
	uint32_t owner = atomic_load(&m->owner);
	for (int i = 0; owner && i < shm.nlocal; i++)
		if (shm.rank[i].world + 1 == (int32_t)owner)
			shm.stuck("ARMCI_Lock", i);
}

// Sleep while *word still reads seen; the seconds are for the check on ranks that left.
static void doze(struct shm_mutex *m, shm_u32 *word, uint32_t seen)
{
	atomic_fetch_add(&m->sleepers, 1);
	if (atomic_load(word) == seen)
		shm_futex_wait(word, seen, 1000);
	atomic_fetch_sub(&m->sleepers, 1);
	if (shm.stuck && atomic_load(&shm.head->departed))
		ask_owner(m);
}

// Polls farther and farther apart: a poller that reads the line all the time slows the owner down.
static void pause_before(unsigned round)
{
	if (round < 8)
		for (unsigned i = 0; i < (8u << round); i++) shm_relax();
	else
		sched_yield();
}

static void wait_turn(struct shm_mutex *m, uint32_t ticket)
{
	for (unsigned round = 0;; round++) {
		uint32_t now = atomic_load_explicit(&m->serving, memory_order_acquire);
		if (now == ticket)
			return;
		if (round < 8 + shm.yield)
			pause_before(round);
		else
			doze(m, &m->serving, now);
	}
}

static void take_as_head(struct shm_mutex *m, uint32_t who)
{
	for (unsigned round = 0; !take(m, who); round++) {
		uint32_t owner = atomic_load_explicit(&m->owner, memory_order_relaxed);
		if (round < 8 + shm.yield)
			pause_before(round);
		else if (owner)
			doze(m, &m->owner, owner);
	}
}

void shm_lock_slow(struct shm_mutex *m, uint32_t who)
{
	if (atomic_load_explicit(&m->barged, memory_order_relaxed) < SHM_BARGE && take(m, who)) {
		atomic_fetch_add_explicit(&m->barged, 1, memory_order_relaxed);
		return;
	}
	uint32_t ticket = atomic_fetch_add(&m->next, 1);
	wait_turn(m, ticket);
	take_as_head(m, who);
	atomic_store_explicit(&m->barged, 0, memory_order_relaxed);
	atomic_store(&m->serving, ticket + 1);
	if (atomic_load(&m->sleepers))
		shm_futex_wake(&m->serving, INT32_MAX);
}

void shm_unlock_slow(struct shm_mutex *m) { shm_futex_wake(&m->owner, INT32_MAX); }
