/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks: a queue of waiting PEs. The first 4 bytes of the lock at one PE, its home, hold the number
 * plus one of the last PE in the queue; the others of each PE tell whether it waits, and which is
 * the next PE. So each PE waits for its own memory, and is served in order of arrival.
 */
#include "osh.h"

enum { WAITING = 1u << 30 }; /* the other bits: number plus one of the next PE */

struct lock {
	_Atomic uint32_t last, mine;
};

static int home_of(const long *lock)
{
	size_t i = (uintptr_t)lock - osh.heap.base;
	if (i >= osh.heap.bytes)
		i = (uintptr_t)lock - osh.data.base;
	return (int)(i / sizeof *lock % (size_t)osh.n);
}

static uint32_t change(int op, _Atomic uint32_t *word, uint32_t value, uint32_t compare, int pe,
	const char *fn)
{
	uint32_t old;
	osh_atomic(&osh.world_ctx, op, sizeof old, &old, word, &value, &compare, pe, fn);
	return old;
}

static int may_go(void *word)
{
	return !(atomic_load((_Atomic uint32_t *)word) & WAITING);
}

static int has_next(void *word) { return atomic_load((_Atomic uint32_t *)word) != 0; }

static struct lock *begin(long *lock, const char *fn)
{
	_Static_assert(sizeof(struct lock) == sizeof(long), "a lock is a long");
	osh_at(lock, sizeof *lock, osh.me, fn);
	return (struct lock *)(void *)lock;
}

API(void, set_lock, (long *lock))
{
	struct lock *l = begin(lock, FN);
	uint32_t me = (uint32_t)osh.me + 1;
	atomic_store(&l->mine, WAITING);
	uint32_t before = change(ARMCIX_SWAP, &l->last, me, 0, home_of(lock), FN);
	if (before == 0) {
		atomic_fetch_and(&l->mine, ~(uint32_t)WAITING);
		return;
	}
	if (before == me)
		osh_die(FN, "lock: this PE holds it");
	change(ARMCIX_OR, &l->mine, me, 0, (int)before - 1, FN);
	osh_wait_for(may_go, &l->mine);
}

API(int, test_lock, (long *lock))
{
	struct lock *l = begin(lock, FN);
	return change(ARMCIX_CAS, &l->last, (uint32_t)osh.me + 1, 0, home_of(lock), FN) != 0;
}

API(void, clear_lock, (long *lock))
{
	struct lock *l = begin(lock, FN);
	uint32_t me = (uint32_t)osh.me + 1, last = me;
	osh_quiet(&osh.world_ctx);
	if (atomic_load(&l->mine) == 0) {
		last = change(ARMCIX_CAS, &l->last, 0, me, home_of(lock), FN);
		if (last == me)
			return;
		if (last == 0)
			osh_die(FN, "lock: no PE holds it");
		osh_wait_for(has_next, &l->mine);
	}
	int next = (int)atomic_exchange(&l->mine, 0) - 1;
	change(ARMCIX_AND, &l->mine, ~(uint32_t)WAITING, 0, next, FN);
}
