// SPDX-License-Identifier: BSD-3-Clause
// put_get.c - MPI_Put and MPI_Get: sizes from nothing to a mebibyte at odd addresses on both sides,
// displacement units, every target, oneself, MPI_PROC_NULL; what is around the transferred bytes
// stays as it was.
#include "check.h"

enum { MOST = 1 << 20, ROOM = MOST + 256 };

static MPI_Win win;
static char *memory, *data, *want;

static const int sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 255, 256, 257,
	1000, 4095, 4096, 4097, 16384, 65535, 65537, 262144, MOST - 1, MOST};
enum { NSIZES = sizeof sizes / sizeof sizes[0] };

// Puts n bytes at the target and gets them and what is around them back.
static void there_and_back(int target, int n, int from, int to)
{
	int around = n + 64 + to < ROOM ? 64 : ROOM - n - to;
	char *mine = data + from, *got = check_alloc((size_t)(to + n + around) + 8) + 0;
	check_fill(mine, (size_t)n, (uint64_t)(n * 7 + me));
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
	CHECK_MPI(MPI_Get(want, to + n + around, MPI_BYTE, target, 0, to + n + around, MPI_BYTE,
		win));
	CHECK_MPI(MPI_Win_flush(target, win));
	CHECK_MPI(MPI_Put(mine, n, MPI_BYTE, target, to, n, MPI_BYTE, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	memcpy(want + to, mine, (size_t)n);
	memset(mine, 0, (size_t)n);
	CHECK_MPI(MPI_Get(mine, n, MPI_BYTE, target, to, n, MPI_BYTE, win));
	CHECK_MPI(MPI_Get(got + 1, to + n + around, MPI_BYTE, target, 0, to + n + around, MPI_BYTE,
		win));
	CHECK_MPI(MPI_Win_unlock(target, win));
	CHECK_MEM(got + 1, want, (size_t)(to + n + around),
		"%d bytes put at %d of rank %d, and around", n, to, target);
	CHECK_MEM(mine, want + to, (size_t)n, "%d bytes got from %d of rank %d", n, to, target);
	free(got);
}

// All ranks at the same time in one fence epoch: a block for each origin at each target.
static void everyone(int bytes)
{
	int block = bytes / np;
	CHECK_MPI(MPI_Win_fence(0, win));
	for (int t = 0; t < np; t++) {
		check_fill(data + block * t, (size_t)block, (uint64_t)(100 * me + t));
		CHECK_MPI(MPI_Put(data + block * t, block, MPI_BYTE, t, block * me, block, MPI_BYTE,
			win));
	}
	CHECK_MPI(MPI_Win_fence(0, win));
	for (int s = 0; s < np; s++) {
		check_fill(want, (size_t)block, (uint64_t)(100 * s + me));
		CHECK_MEM(memory + block * s, want, (size_t)block,
			"block of rank %d in a fence epoch", s);
	}
	CHECK_MPI(MPI_Get(want, block, MPI_BYTE, (me + 1) % np, 0, block, MPI_BYTE, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	check_fill(data, (size_t)block, (uint64_t)((me + 1) % np));
	CHECK_MEM(want, data, (size_t)block, "what was got from rank %d", (me + 1) % np);
	barrier();
}

// Displacements count units; the last element of a window can be reached, and counts are of
// elements.
static void units(void)
{
	static const int unit[] = {1, 2, 3, 8, 24};
	for (int u = 0; u < 5; u++) {
		double base[48], value[3] = {1.5 * me, 2.5, -3.5}, got[3] = {0};
		MPI_Win w;
		int right = (me + 1) % np;
		memset(base, 0, sizeof base);
		CHECK_MPI(MPI_Win_create(base, sizeof base, unit[u], MPI_INFO_NULL, MPI_COMM_WORLD,
			&w));
		CHECK_MPI(MPI_Win_fence(0, w));
		CHECK_MPI(MPI_Put(value, 3, MPI_DOUBLE, right, 45 * 8 / unit[u], 3, MPI_DOUBLE, w));
		CHECK_MPI(MPI_Win_fence(0, w));
		CHECK_DBL(base[45], 1.5 * ((me + np - 1) % np));
		CHECK_DBL(base[46], 2.5);
		CHECK_DBL(base[47], -3.5);
		CHECK_MPI(MPI_Get(got, 3, MPI_DOUBLE, right, 45 * 8 / unit[u], 3, MPI_DOUBLE, w));
		CHECK_MPI(MPI_Win_fence(0, w));
		CHECK_DBL(got[0], 1.5 * me);
		CHECK_MPI(MPI_Win_free(&w));
	}
}

// MPI_PROC_NULL: no effect, in every kind of epoch.
static void null_target(void)
{
	long value = 1, got = 5;
	for (int kind = 0; kind < 3; kind++) {
		if (kind == 0)
			CHECK_MPI(MPI_Win_fence(0, win));
		else if (kind == 1)
			CHECK_MPI(MPI_Win_lock_all(0, win));
		else
			CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
		CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Get(&got, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Accumulate(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG,
			MPI_SUM, win));
		if (kind == 0)
			CHECK_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
		else if (kind == 1)
			CHECK_MPI(MPI_Win_unlock_all(win));
		else
			CHECK_MPI(MPI_Win_unlock(me, win));
		CHECK_INT(got, 5);
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	memory = check_alloc(ROOM);
	data = check_alloc(ROOM);
	want = check_alloc(ROOM);
	check_fill(memory, ROOM, 1);
	CHECK_MPI(MPI_Win_create(memory, ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	for (int t = 0; t < np; t++) {
		for (int s = t == 0 || np < 3 ? 0 : t % 2; s < NSIZES; s += np < 3 ? 1 : 2)
			there_and_back((me + t) % np, sizes[s], s % 7, s * 3 % 13);
	}
	barrier();
	everyone(64 * np);
	everyone(300001);
	everyone(MOST);
	units();
	null_target();
	CHECK_MPI(MPI_Win_free(&win));
	free(memory);
	free(data);
	free(want);
	return check_end("put_get");
}
