// SPDX-License-Identifier: BSD-3-Clause
// mutex.c - the one set of mutexes of the job: mutual exclusion, different numbers per rank, create
// and destroy repeatedly, Lock; Get; Put; Unlock without a fence. Sets with handles are in
// mutex_hdl.c.
#include "check.h"

enum { ROUNDS = 500 };

// A read-modify-write that is only right under the lock, and without any fence.
static void counter(void **base, int mutex, int owner)
{
	long value;
	ARMCI_Lock(mutex, owner);
	CHECK_OK(ARMCI_Get(base[owner], &value, sizeof value, owner));
	value++;
	CHECK_OK(ARMCI_Put(&value, base[owner], sizeof value, owner));
	ARMCI_Unlock(mutex, owner);
}

static void contended(void **base)
{
	*(long *)base[me] = 0;
	CHECK_OK(ARMCI_Create_mutexes(1));
	ARMCI_Barrier();
	for (int i = 0; i < ROUNDS; i++) {
		counter(base, 0, 0);
		counter(base, 0, (me + i) % np);
	}
	ARMCI_Barrier();
	long sum = *(long *)base[me];
	armci_msg_lgop(&sum, 1, "+");
	CHECK_INT(sum, 2L * ROUNDS * np);
	CHECK_OK(ARMCI_Destroy_mutexes());
}

// A holder excludes all others: the word holds its mark for the whole section.
static void exclusive(void **base)
{
	*(long *)base[me] = 0;
	CHECK_OK(ARMCI_Create_mutexes(2));
	ARMCI_Barrier();
	for (int i = 0; i < ROUNDS; i++) {
		ARMCI_Lock(1, 0);
		CHECK_INT(ARMCI_GetValueLong(base[0], 0), 0);
		CHECK_OK(ARMCI_PutValueLong(me + 1, base[0], 0));
		for (int k = 0; k < 3; k++)
			CHECK_INT(ARMCI_GetValueLong(base[0], 0), me + 1);
		CHECK_OK(ARMCI_PutValueLong(0, base[0], 0));
		ARMCI_Unlock(1, 0);
	}
	ARMCI_Barrier();
	CHECK_OK(ARMCI_Destroy_mutexes());
}

// Rank r owns r % 4 mutexes; each is a lock of its own and two may be held at once.
static void uneven(void)
{
	CHECK_OK(ARMCI_Create_mutexes(me % 4));
	for (int r = 0; r < np; r++)
		for (int m = 0; m < r % 4; m++) {
			ARMCI_Lock(m, r);
			ARMCI_Unlock(m, r);
		}
	for (int r = 0; r < np; r++) // nested, always in the same order
		for (int m = 1; m < r % 4; m++) {
			ARMCI_Lock(m - 1, r);
			ARMCI_Lock(m, r);
			ARMCI_Unlock(m - 1, r);
			ARMCI_Unlock(m, r);
		}
	ARMCI_Barrier();
	CHECK_OK(ARMCI_Destroy_mutexes());
}

static void again(void)
{
	for (int i = 0; i < 20; i++) {
		CHECK_OK(ARMCI_Create_mutexes(i % 5));
		if (i % 5) {
			ARMCI_Lock(i % 5 - 1, i % np);
			ARMCI_Unlock(i % 5 - 1, i % np);
		}
		CHECK_OK(ARMCI_Destroy_mutexes());
	}
}

static void many(void)
{
	CHECK_OK(ARMCI_Create_mutexes(1000));
	for (int m = 0; m < 1000; m += 3) {
		ARMCI_Lock(m, (me + 1) % np);
		ARMCI_Unlock(m, (me + 1) % np);
	}
	ARMCI_Barrier();
	CHECK_OK(ARMCI_Destroy_mutexes());
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(sizeof(long));
	contended(base);
	exclusive(base);
	uneven();
	again();
	many();
	check_free(base);
	return check_end("mutex");
}
