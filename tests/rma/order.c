// SPDX-License-Identifier: BSD-3-Clause
// order.c - the default order of accumulates: those of one origin to one place of a target happen
// in the order of the calls, reads by MPI_Get_accumulate among them, without a flush between; also
// when sizes and kinds of calls mix.
#include "check.h"

enum { N = 600 };

static MPI_Win win;
static long *memory;

static void replaces(int target)
{
	static long value[200], old[200];
	long last = -1;
	int n = check_rounds(100);
	if (n > 200)
		n = 200;
	for (int i = 0; i < n; i++) {
		value[i] = 1000L * me + i;
		old[i] = -1;
		CHECK_MPI(MPI_Accumulate(&value[i], 1, MPI_LONG, target, 0, 1, MPI_LONG,
			MPI_REPLACE, win));
		CHECK_MPI(MPI_Get_accumulate(NULL, 0, MPI_LONG, &old[i], 1, MPI_LONG, target, 0, 1,
			MPI_LONG, MPI_NO_OP, win));
	}
	CHECK_MPI(MPI_Get_accumulate(NULL, 0, MPI_LONG, &last, 1, MPI_LONG, target, 0, 1, MPI_LONG,
		MPI_NO_OP, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	for (int i = 0; i < n; i++)
		CHECK_INT(old[i], value[i]);
	CHECK_INT(last, value[n - 1]);
}

// Operators that do not commute: (x * 3 + i) for each i, mixed with fetches and swaps.
static void mixed(int target)
{
	static long three = 3, number[30], old[30], swap_old = -1, cas_old = -1;
	long want = 1, start = 1, got = -1, fifty = 50, sixty = 60;
	CHECK_MPI(MPI_Accumulate(&start, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_REPLACE, win));
	for (int i = 0; i < 20; i++) {
		number[i] = i;
		CHECK_MPI(
			MPI_Accumulate(&three, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_PROD, win));
		CHECK_MPI(MPI_Fetch_and_op(&number[i], &old[i], MPI_LONG, target, 1, MPI_SUM, win));
	}
	CHECK_MPI(MPI_Fetch_and_op(&fifty, &swap_old, MPI_LONG, target, 1, MPI_REPLACE, win));
	CHECK_MPI(MPI_Compare_and_swap(&sixty, &fifty, &cas_old, MPI_LONG, target, 1, win));
	CHECK_MPI(MPI_Fetch_and_op(NULL, &got, MPI_LONG, target, 1, MPI_NO_OP, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	for (int i = 0; i < 20; i++) {
		want *= 3;
		CHECK_INT(old[i], want);
		want += i;
	}
	CHECK_INT(swap_old, want);
	CHECK_INT(cas_old, 50);
	CHECK_INT(got, 60);
}

// Long and short accumulates of overlapping ranges: the later one wins where they meet.
static void lengths(int target)
{
	static long data[40][N], got[N], want[N];
	uint64_t random = 99 + (uint64_t)me;
	for (int i = 0; i < N; i++)
		want[i] = data[0][i] = -i;
	CHECK_MPI(MPI_Accumulate(data[0], N, MPI_LONG, target, 2, N, MPI_LONG, MPI_REPLACE, win));
	for (int k = 1; k < 40; k++) {
		int n = k % 3 ? check_between(&random, 1, 8) : check_between(&random, 1, N),
		    at = check_between(&random, 0, N - n), add = k % 4 == 0;
		for (int i = 0; i < n; i++) {
			data[k][i] = 1000L * k + i;
			want[at + i] = data[k][i] + (add ? want[at + i] : 0);
		}
		CHECK_MPI(MPI_Accumulate(data[k], n, MPI_LONG, target, 2 + at, n, MPI_LONG,
			add ? MPI_SUM : MPI_REPLACE, win));
	}
	CHECK_MPI(MPI_Get_accumulate(NULL, 0, MPI_LONG, got, N, MPI_LONG, target, 2, N, MPI_LONG,
		MPI_NO_OP, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	for (int i = 0; i < N; i++)
		CHECK_INT(got[i], want[i]);
}

// One origin at a time for each target: the next one in the ring after a barrier.
static void all(void)
{
	for (int t = 0; t < np; t++) {
		int target = (me + t) % np;
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
		replaces(target);
		mixed(target);
		lengths(target);
		CHECK_MPI(MPI_Win_unlock(target, win));
		barrier();
	}
}

// Two places that all ranks replace in the same order, whole: a reader never sees an older number
// after a newer one of the same origin.
static void readers(void)
{
	long value[2], seen[2] = {0, 0};
	int rounds = check_rounds(50);
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	memory[0] = memory[1] = 0;
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int i = 1; i <= rounds; i++) {
		if (me == 0) {
			value[0] = value[1] = i;
			CHECK_MPI(MPI_Accumulate(value, 2, MPI_LONG, np - 1, 0, 2, MPI_LONG,
				MPI_REPLACE, win));
			CHECK_MPI(MPI_Win_flush_local(np - 1, win));
		} else {
			long got[2] = {-1, -1};
			CHECK_MPI(MPI_Get_accumulate(NULL, 0, MPI_LONG, got, 2, MPI_LONG, np - 1, 0,
				2, MPI_LONG, MPI_NO_OP, win));
			CHECK_MPI(MPI_Win_flush(np - 1, win));
			for (int k = 0; k < 2; k++) {
				CHECK(got[k] >= seen[k] && got[k] <= rounds);
				seen[k] = got[k];
			}
		}
	}
	CHECK_MPI(MPI_Win_unlock_all(win));
	barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK_MPI(MPI_Win_allocate((N + 2) * sizeof(long), sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &memory, &win));
	all();
	readers();
	CHECK_MPI(MPI_Win_free(&win));
	return check_end("order");
}
