// SPDX-License-Identifier: BSD-3-Clause
// fence.c - MPI_Win_fence: what one fence orders against the next, with every assertion where it is
// true, fences without operations, with stores by the owner between them, and many origins at one
// target.
#include "check.h"

enum { SLOTS = 64 };

static MPI_Win win;
static long *memory; // SLOTS longs

// A ring of puts: mode_before at the fence that opens the epoch, mode_after at the one that ends
// it.
static void ring(int before, int after, long salt)
{
	int right = (me + 1) % np, left = (me + np - 1) % np;
	long value = salt + me;
	CHECK_MPI(MPI_Win_fence(before, win));
	CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_fence(after, win));
	CHECK_INT(memory[0], salt + left);
}

// Stores by the owner between two fences are seen by gets after the second.
static void stores(void)
{
	long got[SLOTS];
	for (int round = 0; round < 5; round++) {
		int from = (me + round) % np;
		for (int i = 0; i < SLOTS; i++)
			memory[i] = 1000L * me + 100 * round + i;
		CHECK_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOPUT, win));
		CHECK_MPI(MPI_Get(got, SLOTS, MPI_LONG, from, 0, SLOTS, MPI_LONG, win));
		CHECK_MPI(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win));
		for (int i = 0; i < SLOTS; i++)
			CHECK_INT(got[i], 1000L * from + 100 * round + i);
	}
}

// Everyone to everyone: a long of each origin in its own slot, and a sum in a common one.
static void all_to_all(int round)
{
	long sum = 0, mine[SLOTS];
	memory[SLOTS - 1] = 0;
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
	for (int t = 0; t < np; t++) {
		mine[t] = 10000L * round + 100 * me + t;
		CHECK_MPI(MPI_Put(&mine[t], 1, MPI_LONG, t, me, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Accumulate(&mine[t], 1, MPI_LONG, t, SLOTS - 1, 1, MPI_LONG, MPI_SUM,
			win));
	}
	CHECK_MPI(MPI_Win_fence(round % 2 ? MPI_MODE_NOSUCCEED : 0, win));
	for (int s = 0; s < np; s++) {
		CHECK_INT(memory[s], 10000L * round + 100 * s + me);
		sum += memory[s];
	}
	CHECK_INT(memory[SLOTS - 1], sum);
}

// Put, fence, get of the same place, fence, without anything between: each epoch ends what it has
// begun.
static void chain(void)
{
	long value, got = 0;
	int right = (me + 1) % np;
	CHECK_MPI(MPI_Win_fence(0, win));
	for (int i = 0; i < check_rounds(50); i++) {
		value = 7L * i + me;
		CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, right, 5, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Win_fence(0, win));
		CHECK_MPI(MPI_Get(&got, 1, MPI_LONG, right, 5, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Win_fence(0, win));
		CHECK_INT(got, value);
	}
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(np < SLOTS);
	CHECK_MPI(MPI_Win_allocate(SLOTS * sizeof(long), sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &memory, &win));
	static const int before[] = {0, MPI_MODE_NOPRECEDE, MPI_MODE_NOSTORE,
		MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE};
	static const int after[] = {0, MPI_MODE_NOSUCCEED, MPI_MODE_NOPUT,
		MPI_MODE_NOSTORE | MPI_MODE_NOPUT,
		MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE | MPI_MODE_NOPUT};
	// Nothing was stored and no epoch was open before any of these, so all assertions hold.
	for (int b = 0; b < 4; b++) {
		for (int a = 0; a < 5; a++)
			ring(before[b], after[a], 100 * b + 10 * a);
	}
	for (int i = 0; i < 10; i++)
		CHECK_MPI(MPI_Win_fence(i % 2 ? MPI_MODE_NOSTORE | MPI_MODE_NOPUT : 0, win));
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win));
	stores();
	for (int round = 0; round < check_rounds(20); round++)
		all_to_all(round);
	chain();
	CHECK_MPI(MPI_Win_free(&win));
	return check_end("fence");
}
