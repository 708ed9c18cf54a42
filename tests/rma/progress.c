// SPDX-License-Identifier: BSD-3-Clause
// progress.c - passive targets: rank 0 computes, without a call of MPI, until it sees in its own
// memory that the epochs of all others have ended. Nothing is measured: if an origin needs rank 0's
// help, rank 0 gives up and the test fails.
#include "check.h"

#include <sys/time.h>

enum { SLOTS = 64, PATIENCE = 20 };

static double seconds(void)
{
	struct timeval t;
	gettimeofday(&t, NULL);
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

// Computes at least 0.2 s, and until every other rank has written its mark; false after PATIENCE
// seconds.
static int compute(volatile long *memory, long mark)
{
	double begin = seconds(), limit = check_native() ? 2 : PATIENCE;
	for (;;) {
		int all = 1;
		for (int r = 1; r < np; r++)
			all = all && memory[r] == mark;
		double now = seconds() - begin;
		if (all && now > 0.2)
			return 1;
		if (now > limit)
			return 0;
		usleep(np > 2 ? 1000 : 0); // with few processors the others need them
	}
}

// What an origin does: an epoch with every kind of call, and after its end a mark.
static void origin(MPI_Win win, MPI_Aint base, long mark, int unit)
{
	long value[3] = {mark, mark + 1, mark + 2}, got[3] = {0, 0, 0}, one = 1, old = -1, zero = 0,
	     swapped = -1;
	MPI_Datatype vector;
	MPI_Request request;
	MPI_Aint mine = base + (MPI_Aint)(SLOTS + 8 * me) * unit;
	CHECK_MPI(MPI_Type_vector(3, 1, 2, MPI_LONG, &vector));
	CHECK_MPI(MPI_Type_commit(&vector));
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
	CHECK_MPI(MPI_Put(value, 3, MPI_LONG, 0, mine, 1, vector, win));
	CHECK_MPI(MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, base, MPI_SUM, win));
	CHECK_MPI(MPI_Win_flush(0, win));
	CHECK_MPI(MPI_Accumulate(value, 3, MPI_LONG, 0, mine, 1, vector, MPI_SUM, win));
	CHECK_MPI(MPI_Compare_and_swap(&zero, &zero, &swapped, MPI_LONG, 0,
		mine + (MPI_Aint)7 * unit, win));
	CHECK_MPI(MPI_Win_flush(0, win));
	CHECK_MPI(MPI_Rget(got, 3, MPI_LONG, 0, mine, 1, vector, win, &request));
	CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
	for (int i = 0; i < 3; i++)
		CHECK_INT(got[i], 2 * value[i]);
	CHECK_INT(swapped, 0);
	CHECK(old >= 0);
	CHECK_MPI(MPI_Win_unlock(0, win));
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	CHECK_MPI(MPI_Accumulate(&mark, 1, MPI_LONG, 0, base + (MPI_Aint)me * unit, 1, MPI_LONG,
		MPI_REPLACE, win));
	CHECK_MPI(MPI_Win_unlock(0, win));
	CHECK_MPI(MPI_Type_free(&vector));
}

static void run(const char *kind, MPI_Win win, long *memory, MPI_Aint base, int unit)
{
	long mark = 4711;
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	memset(memory, 0, sizeof(long) * SLOTS * 16);
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
	if (me != 0)
		origin(win, base, mark, unit);
	else if (!compute(memory, mark)) {
		if (!check_native())
			check_fail(__FILE__, __LINE__,
				"%s: epochs of other ranks have not ended while rank 0 computed "
				"for %d s",
				kind, PATIENCE);
		fprintf(stderr, "note: %s: no progress without calls of the target\n", kind);
	}
	barrier();
	if (me == 0) {
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
		CHECK_INT(memory[0], np - 1);
		CHECK_MPI(MPI_Win_unlock(0, win));
	}
	barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(np < 64);
	const MPI_Aint bytes = (MPI_Aint)sizeof(long) * SLOTS * 16;
	long *memory, *heap = check_alloc((size_t)bytes);
	MPI_Aint base;
	MPI_Win win;
	CHECK_MPI(MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
		&win));
	run("MPI_Win_allocate", win, memory, 0, 1);
	CHECK_MPI(MPI_Win_free(&win));
	CHECK_MPI(MPI_Win_create(heap, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	run("MPI_Win_create", win, heap, 0, sizeof(long));
	CHECK_MPI(MPI_Win_free(&win));
	CHECK_MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	CHECK_MPI(MPI_Win_attach(win, heap, bytes));
	CHECK_MPI(MPI_Get_address(heap, &base));
	CHECK_MPI(MPI_Bcast(&base, 1, MPI_AINT, 0, MPI_COMM_WORLD));
	run("MPI_Win_create_dynamic", win, heap, base, sizeof(long));
	CHECK_MPI(MPI_Win_detach(win, heap));
	CHECK_MPI(MPI_Win_free(&win));
	free(heap);
	return check_end("progress");
}
