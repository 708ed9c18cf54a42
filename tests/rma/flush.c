// SPDX-License-Identifier: BSD-3-Clause
// flush.c - MPI_Win_flush, flush_all, flush_local, flush_local_all and sync: what is visible at the
// target, and which local buffers may be used again, inside one long epoch of MPI_Win_lock_all.
#include "check.h"

enum { LONGS = 3000 };

static MPI_Win win;
static long *memory; // LONGS + 64 longs

// After a flush and a barrier the target sees the data by plain loads, and the flag that follows
// the data.
static void visible(int all)
{
	static long data[LONGS];
	int right = (me + 1) % np, left = (me + np - 1) % np;
	for (int round = 0; round < check_rounds(20); round++) {
		for (int i = 0; i < LONGS; i++)
			data[i] = 10000000L * all + 100000L * round + 5000L * me + i;
		CHECK_MPI(MPI_Put(data, LONGS, MPI_LONG, right, 0, LONGS, MPI_LONG, win));
		CHECK_MPI(all ? MPI_Win_flush_all(win) : MPI_Win_flush(right, win));
		barrier();
		CHECK_MPI(MPI_Win_sync(win));
		for (int i = 0; i < LONGS; i++)
			CHECK_INT(memory[i], 10000000L * all + 100000L * round + 5000L * left + i);
		barrier();
	}
}

// Data, flush, then a flag: a target that sees the flag by polling sees the data, without any call
// of the origin after it.
static void flag_after_data(void)
{
	volatile long *flag = &memory[LONGS];
	static long data[LONGS];
	int right = (me + 1) % np, left = (me + np - 1) % np;
	for (long round = 1; round <= check_rounds(20); round++) {
		for (int i = 0; i < LONGS; i++)
			data[i] = -100000L * round - 5000L * me - i;
		CHECK_MPI(MPI_Put(data, LONGS, MPI_LONG, right, 0, LONGS, MPI_LONG, win));
		CHECK_MPI(MPI_Win_flush(right, win));
		CHECK_MPI(MPI_Accumulate(&round, 1, MPI_LONG, right, LONGS, 1, MPI_LONG,
			MPI_REPLACE, win));
		CHECK_MPI(MPI_Win_flush(right, win));
		while (*flag != round) {
			int any;
			CHECK_MPI(MPI_Win_sync(win));
			CHECK_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any,
				MPI_STATUS_IGNORE));
		}
		CHECK_MPI(MPI_Win_sync(win));
		for (int i = 0; i < LONGS; i++)
			CHECK_INT(memory[i], -100000L * round - 5000L * left - i);
		barrier();
	}
}

// After a local flush the buffer belongs to the program again; the data is that of the call.
static void local(int all)
{
	static long data[LONGS];
	int right = (me + 1) % np, left = (me + np - 1) % np;
	for (int part = 0; part < 6; part++) {
		int n = LONGS / 6;
		for (int i = 0; i < n; i++)
			data[i] = 1000L * me + 10000L * part + i;
		CHECK_MPI(MPI_Put(data, n, MPI_LONG, right, part * n, n, MPI_LONG, win));
		CHECK_MPI(all ? MPI_Win_flush_local_all(win) : MPI_Win_flush_local(right, win));
		memset(data, 0xff, sizeof data);
	}
	CHECK_MPI(MPI_Win_flush(right, win));
	barrier();
	CHECK_MPI(MPI_Win_sync(win));
	for (int i = 0; i < LONGS; i++)
		CHECK_INT(memory[i], 1000L * left + 10000L * (i / (LONGS / 6)) + i % (LONGS / 6));
	barrier();
}

// A get has its data after a local flush, and so have a fetch and op and a compare and swap.
static void gets(int all)
{
	static long got[LONGS];
	int from = (me + np / 2 + 1) % np;
	long one = 1, two = 2, old = -1, swapped = -1;
	for (int i = 0; i < LONGS; i++)
		memory[i] = 20000L * me + i;
	memory[LONGS] = 1;
	CHECK_MPI(MPI_Win_sync(win));
	barrier();
	memset(got, 0xff, sizeof got);
	CHECK_MPI(MPI_Get(got, LONGS, MPI_LONG, from, 0, LONGS, MPI_LONG, win));
	CHECK_MPI(all ? MPI_Win_flush_local_all(win) : MPI_Win_flush_local(from, win));
	for (int i = 0; i < LONGS; i++)
		CHECK_INT(got[i], 20000L * from + i);
	CHECK_MPI(MPI_Fetch_and_op(&one, &old, MPI_LONG, from, LONGS, MPI_SUM, win));
	CHECK_MPI(all ? MPI_Win_flush_local_all(win) : MPI_Win_flush_local(from, win));
	CHECK_INT(old, 1);
	CHECK_MPI(MPI_Compare_and_swap(&one, &two, &swapped, MPI_LONG, from, LONGS, win));
	CHECK_MPI(all ? MPI_Win_flush_all(win) : MPI_Win_flush(from, win));
	CHECK_INT(swapped, 2);
	barrier();
	CHECK_MPI(MPI_Win_sync(win));
	CHECK_INT(memory[LONGS], 1);
	barrier();
}

// The same under a lock of one target.
static void one_lock(void)
{
	int right = (me + 1) % np;
	long value = 4 + me, got = -1;
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
	CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, right, 9, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_flush(right, win));
	CHECK_MPI(MPI_Win_flush(right, win));
	CHECK_MPI(MPI_Get(&got, 1, MPI_LONG, right, 9, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_flush_local(right, win));
	CHECK_INT(got, value);
	CHECK_MPI(MPI_Win_unlock(right, win));
	barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK_MPI(MPI_Win_allocate((LONGS + 64) * sizeof(long), sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &memory, &win));
	memset(memory, 0, (LONGS + 64) * sizeof(long));
	barrier();
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int all = 0; all <= 1; all++) {
		visible(all);
		local(all);
		gets(all);
	}
	memory[LONGS] = 0;
	CHECK_MPI(MPI_Win_sync(win));
	barrier();
	flag_after_data();
	CHECK_MPI(MPI_Win_flush_all(win));
	CHECK_MPI(MPI_Win_unlock_all(win));
	one_lock();
	CHECK_MPI(MPI_Win_free(&win));
	return check_end("flush");
}
