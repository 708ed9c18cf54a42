// SPDX-License-Identifier: BSD-3-Clause
// Single operations of rank 0 on rank 1's window, each complete there before the next begins.
#include "windows.h"

enum { EDGE = 64, WIDTH = 128, MANY = 512, BYTES = EDGE * WIDTH * 8 };

static long word = 1, old, expected;
static MPI_Datatype patch; // EDGE x EDGE doubles of rows of WIDTH

#define FLUSH MPI_Win_flush(1, area.win)
BY_FIRST(put, MPI_Put(area.mine, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, area.win); FLUSH)
BY_FIRST(get, MPI_Get(area.mine, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, area.win); FLUSH)
BY_FIRST(fetch_op, MPI_Fetch_and_op(&word, &old, MPI_LONG, 1, 128, MPI_SUM, area.win); FLUSH)
BY_FIRST(compare_swap, MPI_Compare_and_swap(&word, &expected, &old, MPI_LONG, 1, 256, area.win);
	 FLUSH)
BY_FIRST(acc, MPI_Accumulate(area.mine, 1, MPI_DOUBLE, 1, 512, 1, MPI_DOUBLE, MPI_SUM, area.win);
	 FLUSH)
BY_FIRST(acc_many,
	 MPI_Accumulate(area.mine, MANY, MPI_DOUBLE, 1, 0, MANY, MPI_DOUBLE, MPI_SUM, area.win);
	 FLUSH)
BY_FIRST(put_patch, MPI_Put(area.mine, 1, patch, 1, 0, 1, patch, area.win); FLUSH)
BY_FIRST(get_patch, MPI_Get(area.mine, 1, patch, 1, 0, 1, patch, area.win); FLUSH)

BY_FIRST(lock_shared, MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, area.win); MPI_Win_unlock(1, area.win))
BY_FIRST(lock_exclusive, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, area.win);
	 MPI_Win_unlock(1, area.win))
BY_FIRST(lock_put, MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, area.win);
	 MPI_Put(area.mine, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, area.win); MPI_Win_unlock(1, area.win))

// The lock is not on the clock.
static double put_unlock(long n)
{
	double t = 0;
	for (long i = 0; me == 0 && i < n; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, area.win);
		double begin = timing_now();
		MPI_Put(area.mine, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, area.win);
		MPI_Win_unlock(1, area.win);
		t += timing_now() - begin;
	}
	return t;
}

struct one {
	const char *op, *x;
	int bytes;
	body ours;
	int out, back; // of the raw round trip
};

static void measure_all(const struct one *list, int n)
{
	for (int i = 0; i < n; i++) {
		struct figure f = {.op = list[i].op,
			.x = list[i].x,
			.bytes = list[i].bytes,
			.unit = TIMING_NS,
			.ours = list[i].ours,
			.raw = sockets ? socket_trips : NULL};
		socket_sizes((size_t)list[i].out, (size_t)list[i].back, 1);
		measure(&f);
	}
}

// With all targets locked. A rank that has its locks answers the requests of those without.
static void all_locked(const struct one *list, int n)
{
	if (!area_open(BYTES))
		return;
	MPI_Type_vector(EDGE, EDGE, WIDTH, MPI_DOUBLE, &patch);
	MPI_Type_commit(&patch);
	MPI_Win_lock_all(0, area.win);
	MPI_Barrier(MPI_COMM_WORLD);
	measure_all(list, n);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_unlock_all(area.win);
	MPI_Type_free(&patch);
	area_close();
}

#define LOCKED(name, ...)                                              \
	void name(void)                                                \
	{                                                              \
		static const struct one list[] = {__VA_ARGS__};        \
		all_locked(list, sizeof list / sizeof list[0]);        \
	}
LOCKED(small, {"put+flush", "-", 8, put, 8, 8}, {"get+flush", "-", 8, get, 8, 8})
LOCKED(fetch, {"fetch-op+flush", "-", 8, fetch_op, 8, 8})
LOCKED(swap, {"compare-swap+flush", "-", 8, compare_swap, 8, 8})
LOCKED(accumulate, {"acc+flush", "-", 8, acc, 8, 8},
	{"acc+flush", "-", 8 * MANY, acc_many, 8 * MANY, 8})
LOCKED(strided, {"put-strided+flush", "64x64", EDGE * EDGE * 8, put_patch, EDGE * EDGE * 8, 8},
	{"get-strided+flush", "64x64", EDGE * EDGE * 8, get_patch, 8, EDGE * EDGE * 8})

void locks(void)
{
	static const struct one list[] = {
		{"lock+unlock-shared", "-", 0, lock_shared, 8, 8},
		{"lock+unlock-exclusive", "-", 0, lock_exclusive, 8, 8},
		{"lock+put+unlock", "-", 8, lock_put, 8, 8},
		{"put+unlock", "-", 8, put_unlock, 8, 8},
	};
	if (!area_open(BYTES))
		return;
	measure_all(list, sizeof list / sizeof list[0]);
	area_close();
}
