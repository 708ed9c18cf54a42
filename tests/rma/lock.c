// SPDX-License-Identifier: BSD-3-Clause
// lock.c - MPI_Win_lock and MPI_Win_lock_all: an exclusive lock excludes (counters that are read
// and written back), shared locks are held by all at once, locks of several targets are held
// together, MPI_MODE_NOCHECK where no rank competes, and the owner's own lock for loads and stores.
#include "check.h"

static MPI_Win win;
static long *memory; // [0] counter, [1] its shadow, [2] and on: a slot for each rank

// Reads the counter and writes it back plus one, without any atomic operation.
static void increment(int target)
{
	long pair[2] = {-1, -2};
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
	CHECK_MPI(MPI_Get(pair, 2, MPI_LONG, target, 0, 2, MPI_LONG, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	CHECK_INT(pair[0], pair[1]);
	pair[0]++;
	pair[1]++;
	CHECK_MPI(MPI_Put(pair, 2, MPI_LONG, target, 0, 2, MPI_LONG, win));
	CHECK_MPI(MPI_Win_unlock(target, win));
}

// All ranks at one target, then each at all targets in an order of its own.
static void exclusive(void)
{
	int rounds = check_rounds(50), many = check_rounds(10);
	for (int i = 0; i < rounds; i++)
		increment(0);
	for (int i = 0; i < many; i++) {
		for (int t = 0; t < np; t++)
			increment((me + t) % np);
	}
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
	CHECK_INT(memory[0], (me == 0 ? rounds * np : 0) + many * np);
	CHECK_INT(memory[1], memory[0]);
	CHECK_MPI(MPI_Win_unlock(me, win));
}

// All hold a shared lock of rank 0 at the same time: they meet at a barrier while they have it.
static void shared(void)
{
	long value = 500 + me, got[64];
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	barrier();
	CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, 0, 2 + me, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_flush(0, win));
	barrier();
	CHECK_MPI(MPI_Get(got, np, MPI_LONG, 0, 2, np, MPI_LONG, win));
	CHECK_MPI(MPI_Win_unlock(0, win));
	for (int r = 0; r < np; r++)
		CHECK_INT(got[r], 500 + r);
	barrier();
}

// Everything is locked by everyone; shared locks only, so no rank waits.
static void all(int mode)
{
	long got[64];
	CHECK_MPI(MPI_Win_lock_all(mode, win));
	for (int t = 0; t < np; t++) {
		got[t] = 900 + 10 * me + t;
		CHECK_MPI(MPI_Put(&got[t], 1, MPI_LONG, t, 2 + me, 1, MPI_LONG, win));
	}
	CHECK_MPI(MPI_Win_flush_all(win));
	barrier();
	CHECK_MPI(MPI_Get(got, np, MPI_LONG, (me + 1) % np, 2, np, MPI_LONG, win));
	CHECK_MPI(MPI_Win_unlock_all(win));
	for (int r = 0; r < np; r++)
		CHECK_INT(got[r], 900 + 10 * r + (me + 1) % np);
	barrier();
}

// Locks of all targets held together, exclusively, taken in the order of ranks: only one rank is
// inside at a time.
static void together(void)
{
	for (int round = 0; round < check_rounds(10); round++) {
		long first[64], value;
		for (int t = 0; t < np; t++)
			CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, win));
		for (int t = 0; t < np; t++)
			CHECK_MPI(MPI_Get(&first[t], 1, MPI_LONG, t, 2, 1, MPI_LONG, win));
		for (int t = 0; t < np; t++)
			CHECK_MPI(MPI_Win_flush(t, win));
		for (int t = 1; t < np; t++)
			CHECK_INT(first[t], first[0]);
		value = first[0] + 1;
		for (int t = 0; t < np; t++)
			CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, t, 2, 1, MPI_LONG, win));
		for (int t = np - 1; t >= 0; t--)
			CHECK_MPI(MPI_Win_unlock(t, win));
	}
}

// The owner locks its own window to store and load; others see it under a lock, and may leave out
// the check where a barrier has made sure that there is no conflict.
static void owner(void)
{
	int right = (me + 1) % np;
	long got = -1;
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	memory[2] = 3000 + me;
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, MPI_MODE_NOCHECK, win));
	CHECK_MPI(MPI_Get(&got, 1, MPI_LONG, right, 2, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_unlock(right, win));
	CHECK_INT(got, 3000 + right);
	barrier();
	// one origin for each target
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, MPI_MODE_NOCHECK, win));
	got = 4000 + me;
	CHECK_MPI(MPI_Put(&got, 1, MPI_LONG, right, 2, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_unlock(right, win));
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
	CHECK_INT(memory[2], 4000 + (me + np - 1) % np);
	CHECK_MPI(MPI_Win_unlock(me, win));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(np <= 64);
	CHECK_MPI(MPI_Win_allocate((np + 2) * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &memory, &win));
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	memset(memory, 0, sizeof(long) * (size_t)(np + 2));
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
	exclusive();
	barrier();
	shared();
	all(0);
	all(MPI_MODE_NOCHECK);
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	memory[2] = 0;
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
	together();
	barrier();
	owner();
	CHECK_MPI(MPI_Win_free(&win));
	return check_end("lock");
}
