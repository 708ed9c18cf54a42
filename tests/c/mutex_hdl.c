// SPDX-License-Identifier: BSD-3-Clause
// mutex_hdl.c - sets of mutexes with handles (armcix.h): independent sets, sets on a group,
// trylock. The set of the job is in mutex.c.
#include "check.h"
#include <armcix.h>

enum { ROUNDS = 300 };

static void counter(armcix_mutex_hdl_t set, int mutex, long *word)
{
	ARMCIX_Lock_hdl(set, mutex, 0);
	long value = ARMCI_GetValueLong(word, 0);
	CHECK_OK(ARMCI_PutValueLong(value + 1, word, 0));
	ARMCIX_Unlock_hdl(set, mutex, 0);
}

// Two sets are independent: each guards a word of its own, and holding one never blocks the other.
static void two_sets(void **base, ARMCI_Group *group)
{
	armcix_mutex_hdl_t a = ARMCIX_Create_mutexes_hdl(2, group),
			   b = ARMCIX_Create_mutexes_hdl(1, group);
	CHECK(a && b && a != b);
	for (int i = 0; i < ROUNDS; i++) {
		counter(a, 1, (long *)base[0]);
		counter(b, 0, (long *)base[0] + 1);
	}
	ARMCIX_Lock_hdl(a, 0, me);
	ARMCIX_Lock_hdl(b, 0, me);
	ARMCIX_Unlock_hdl(b, 0, me);
	ARMCIX_Unlock_hdl(a, 0, me);
	ARMCI_Barrier();
	CHECK_INT(ARMCI_GetValueLong(base[0], 0), (long)ROUNDS * np);
	CHECK_INT(ARMCI_GetValueLong((long *)base[0] + 1, 0), (long)ROUNDS * np);
	CHECK_OK(ARMCIX_Destroy_mutexes_hdl(a));
	CHECK_OK(ARMCIX_Destroy_mutexes_hdl(b));
	CHECK(ARMCIX_Destroy_mutexes_hdl(b) != 0);                      // no longer one
	CHECK(ARMCIX_Destroy_mutexes_hdl((armcix_mutex_hdl_t)base) != 0); // never was
}

static void trylock(void **base, ARMCI_Group *group)
{
	armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(1, group);
	CHECK_OK(ARMCIX_Trylock_hdl(set, 0, me)); // my own one is free
	ARMCI_Barrier();
	if (np > 1)
		CHECK(ARMCIX_Trylock_hdl(set, 0, (me + 1) % np) != 0); // its owner holds it
	ARMCI_Barrier();
	ARMCIX_Unlock_hdl(set, 0, me);
	ARMCI_Barrier();
	*(long *)base[me] = 0;
	ARMCI_Barrier();
	for (int got = 0; got < ROUNDS;) {
		if (ARMCIX_Trylock_hdl(set, 0, 0) != 0) {
			ARMCIX_Progress();
			continue;
		}
		CHECK_OK(ARMCI_PutValueLong(ARMCI_GetValueLong(base[0], 0) + 1, base[0], 0));
		ARMCIX_Unlock_hdl(set, 0, 0);
		got++;
	}
	ARMCI_Barrier();
	CHECK_INT(ARMCI_GetValueLong(base[0], 0), (long)ROUNDS * np);
	CHECK_OK(ARMCIX_Destroy_mutexes_hdl(set));
}

// More sets than the library has places for on its fast path: each keeps its own mutexes. Locking
// and trying exclude each other.
static void many_sets(void **base, ARMCI_Group *group)
{
	enum { SETS = 90 };
	armcix_mutex_hdl_t set[SETS];
	for (int i = 0; i < SETS; i++)
		CHECK((set[i] = ARMCIX_Create_mutexes_hdl(1 + i % 3, group)) != NULL);
	memset(base[me], 0, 2 * sizeof(long));
	ARMCI_Barrier();
	for (int i = 0; i < SETS; i++)
		CHECK_OK(ARMCIX_Trylock_hdl(set[i], i % 3, me));
	for (int i = 0; i < SETS; i++) {
		CHECK_INT(ARMCIX_Trylock_hdl(set[i], i % 3, me), 1);
		ARMCIX_Unlock_hdl(set[i], i % 3, me);
		CHECK_OK(ARMCIX_Trylock_hdl(set[i], i % 3, me));
		ARMCIX_Unlock_hdl(set[i], i % 3, me);
	}
	ARMCI_Barrier();
	for (int i = 0; i < SETS; i++) {
		if ((i + me) % 2 == 0)
			ARMCIX_Lock_hdl(set[i % 7], 0, 0);
		else
			while (ARMCIX_Trylock_hdl(set[i % 7], 0, 0) != 0)
				ARMCIX_Progress();
		ARMCIX_Lock_hdl(set[SETS - 1], 0, 0);
		CHECK_OK(ARMCI_PutValueLong(ARMCI_GetValueLong(base[0], 0) + 1, base[0], 0));
		ARMCIX_Unlock_hdl(set[SETS - 1], 0, 0);
		ARMCIX_Unlock_hdl(set[i % 7], 0, 0);
	}
	ARMCI_Barrier();
	CHECK_INT(ARMCI_GetValueLong(base[0], 0), (long)SETS * np);
	for (int i = 0; i < SETS; i++)
		CHECK_OK(ARMCIX_Destroy_mutexes_hdl(set[i]));
}

// The even ranks share a set; the place of a mutex is still told by world rank.
static void on_group(void)
{
	int list[64], n = 0;
	for (int r = 0; r < np; r += 2)
		list[n++] = r;
	ARMCI_Group even;
	ARMCI_Group_create(n, list, &even);
	if (me % 2 == 0) {
		armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(1, &even);
		for (int i = 0; i < n; i++) {
			ARMCIX_Lock_hdl(set, 0, list[i]);
			ARMCIX_Unlock_hdl(set, 0, list[i]);
		}
		CHECK_OK(ARMCIX_Destroy_mutexes_hdl(set));
		ARMCI_Group_free(&even);
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(2 * sizeof(long));
	memset(base[me], 0, 2 * sizeof(long));
	ARMCI_Barrier();
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	CHECK_OK(ARMCI_Create_mutexes(1)); // lives beside the sets with handles
	two_sets(base, &world);
	trylock(base, &world);
	many_sets(base, &world);
	on_group();
	CHECK_OK(ARMCI_Destroy_mutexes());
	check_free(base);
	return check_end("mutex_hdl");
}
