// SPDX-License-Identifier: BSD-3-Clause
// rmw.c - fetch-and-add and swap on int and long in both numberings of the constants: values,
// contention totals, a shared counter as applications use it. No other atomic is promised.
#include "check.h"
#include <limits.h>

enum { CALLS = 4000 };

static void values(void **base, int peer)
{
	static const int add[] = {12, 0}, add_long[] = {13, 1}, swap[] = {10, 2},
			 swap_long[] = {11, 3};
	int *word = (int *)base[peer], old;
	long *wide = (long *)base[peer] + 1, old_long;
	for (int n = 0; n < 2; n++) {
		CHECK_OK(ARMCI_PutValueInt(40, word, peer));
		CHECK_OK(ARMCI_Rmw(add[n], &old, word, 2, peer));
		CHECK_INT(old, 40);
		CHECK_OK(ARMCI_Rmw(add[n], &old, word, -50, peer));
		CHECK_INT(old, 42);
		old = 99;
		CHECK_OK(ARMCI_Rmw(swap[n], &old, word, 12345, peer));
		CHECK_INT(old, -8);
		CHECK_INT(ARMCI_GetValueInt(word, peer), 99);
		CHECK_OK(ARMCI_PutValueLong(1L << 40, wide, peer));
		CHECK_OK(ARMCI_Rmw(add_long[n], &old_long, wide, -1, peer));
		CHECK_INT(old_long, 1L << 40);
		CHECK_OK(ARMCI_Rmw(add_long[n], &old_long, wide, INT_MAX, peer));
		CHECK_INT(old_long, (1L << 40) - 1);
		old_long = -5;
		CHECK_OK(ARMCI_Rmw(swap_long[n], &old_long, wide, 0, peer));
		CHECK_INT(old_long, (1L << 40) - 1 + INT_MAX);
		CHECK_INT(ARMCI_GetValueLong(wide, peer), -5);
	}
	CHECK_OK(ARMCI_PutValueInt(INT_MAX, word, peer));
	CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &old, word, 1, peer));
	CHECK_INT(ARMCI_GetValueInt(word, peer), INT_MIN);
}

// Every rank adds to the counters of all ranks; totals must be exact and each rank's view must
// grow.
static void totals(void **base)
{
	int *word = base[me];
	long *wide = (long *)base[me] + 1;
	*word = 0;
	*wide = 0;
	ARMCI_Barrier();
	int seen = -1;
	for (int i = 0; i < CALLS; i++) {
		int old, peer = (me + i) % np;
		long old_long;
		CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &old, base[0], 1, 0));
		CHECK(old > seen);
		seen = old;
		CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old_long, (long *)base[peer] + 1, 3,
			peer));
	}
	ARMCI_Barrier();
	if (me == 0)
		CHECK_INT(*word, CALLS * np);
	armci_msg_lgop(wide, 1, "+");
	CHECK_INT(*wide, 3L * CALLS * np);
	ARMCI_Barrier();
}

// A shared counter hands out every task exactly once; reset by a plain store between two barriers.
static void tasks(void **base)
{
	enum { TASKS = 5000 };
	int *done = check_alloc(TASKS * sizeof(int));
	for (int round = 0; round < 3; round++) {
		memset(done, 0, TASKS * sizeof(int));
		armci_msg_barrier();
		if (me == 0)
			*(long *)base[0] = 0;
		armci_msg_barrier();
		for (;;) {
			long task;
			CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &task, base[0], 1, 0));
			if (task >= TASKS)
				break;
			done[task]++;
		}
		armci_msg_igop(done, TASKS, "+");
		for (int i = 0; i < TASKS; i++)
			CHECK_INT(done[i], 1);
	}
	free(done);
}

// A token in the swapped word is never lost or doubled. Its holder competes with all that ask for
// it: many ranks take fewer turns.
static void token(void **base)
{
	int turns = np <= 16 ? 200 : 200 * 16 / np;
	if (me == 0)
		*(int *)base[0] = 1;
	ARMCI_Barrier();
	int held = 0, entered = 0;
	while (entered < turns) {
		int t = 0;
		CHECK_OK(ARMCI_Rmw(ARMCI_SWAP, &t, base[0], 0, 0));
		CHECK(t == 0 || t == 1);
		if (!t)
			continue;
		held = ARMCI_GetValueInt((int *)base[0] + 1, 0);
		entered++;
		CHECK_OK(ARMCI_PutValueInt(held + 1, (int *)base[0] + 1, 0));
		ARMCI_Fence(0);
		CHECK_OK(ARMCI_Rmw(ARMCI_SWAP, &t, base[0], 0, 0));
		CHECK_INT(t, 0);
	}
	ARMCI_Barrier();
	CHECK_INT(ARMCI_GetValueInt((int *)base[0] + 1, 0), turns * np);
	ARMCI_Barrier();
}

// The same in memory whose longs network devices change, where those are used: no word is changed
// by both.
static void declared(void)
{
	void **base = check_alloc(sizeof(void *) * (size_t)np);
	CHECK_OK(ARMCI_Malloc_memdev(base, 64, "rdma-atomics"));
	values(base, (me + 1) % np);
	ARMCI_Barrier();
	values(base, me);
	ARMCI_Barrier();
	tasks(base);
	CHECK_OK(ARMCI_Free_memdev(base[me]));
	free(base);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(64);
	values(base, (me + 1) % np);
	ARMCI_Barrier();
	values(base, me);
	ARMCI_Barrier();
	totals(base);
	tasks(base);
	memset(base[me], 0, 64);
	ARMCI_Barrier();
	token(base);
	check_free(base);
	declared();
	return check_end("rmw");
}
