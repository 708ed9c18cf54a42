// SPDX-License-Identifier: BSD-3-Clause
// pscw.c - MPI_Win_post, start, complete, wait and test: all with all, a ring, subgroups, several
// origins at one target, empty groups, MPI_MODE_NOCHECK, and ranks that come at different times.
#include "check.h"

static MPI_Win win;
static long *memory; // np + 1 longs
static MPI_Group world;

static MPI_Group group_of(int n, const int *ranks)
{
	MPI_Group group;
	CHECK_MPI(MPI_Group_incl(world, n, ranks, &group));
	return group;
}

// Everyone with everyone, itself too.
static void all_with_all(int round)
{
	long value[64];
	memory[np] = 0;
	CHECK_MPI(MPI_Win_post(world, 0, win));
	CHECK_MPI(MPI_Win_start(world, 0, win));
	for (int t = 0; t < np; t++) {
		value[t] = 1000L * round + 10 * me + t;
		CHECK_MPI(MPI_Put(&value[t], 1, MPI_LONG, t, me, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Accumulate(&value[t], 1, MPI_LONG, t, np, 1, MPI_LONG, MPI_SUM, win));
	}
	CHECK_MPI(MPI_Win_complete(win));
	CHECK_MPI(MPI_Win_wait(win));
	long sum = 0;
	for (int s = 0; s < np; s++) {
		CHECK_INT(memory[s], 1000L * round + 10 * s + me);
		sum += memory[s];
	}
	CHECK_INT(memory[np], sum);
}

// Each rank exposes to its left neighbour and puts to its right one; skew makes some come late to a
// part of it.
static void ring(int round, int skew, int test)
{
	int left = (me + np - 1) % np, right = (me + 1) % np, flag = 0;
	MPI_Group from = group_of(1, &left), to = group_of(1, &right);
	long value = 100L * round + me;
	if (skew && (me + round) % 3 == 0)
		usleep(3000);
	CHECK_MPI(MPI_Win_post(from, 0, win));
	if (skew && (me + round) % 3 == 1)
		usleep(3000);
	CHECK_MPI(MPI_Win_start(to, 0, win));
	CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
	if (skew && (me + round) % 3 == 2)
		usleep(3000);
	CHECK_MPI(MPI_Win_complete(win));
	while (test && !flag)
		CHECK_MPI(MPI_Win_test(win, &flag));
	if (!test)
		CHECK_MPI(MPI_Win_wait(win));
	CHECK_INT(memory[0], 100L * round + left);
	CHECK_MPI(MPI_Group_free(&from));
	CHECK_MPI(MPI_Group_free(&to));
}

// MPI_Win_test says no while an origin has not completed.
static void not_yet(void)
{
	int zero = 0, last = np - 1, flag = 1;
	if (np == 1)
		return;
	MPI_Group first = group_of(1, &zero), end = group_of(1, &last);
	if (me == 0) {
		CHECK_MPI(MPI_Win_post(end, 0, win));
		CHECK_MPI(MPI_Win_test(win, &flag));
		CHECK_INT(flag, 0);
		CHECK_MPI(MPI_Send(NULL, 0, MPI_INT, last, 0, MPI_COMM_WORLD));
		CHECK_MPI(MPI_Win_wait(win));
	} else if (me == last) {
		CHECK_MPI(MPI_Win_start(first, 0, win));
		CHECK_MPI(MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK_MPI(MPI_Win_complete(win));
	}
	CHECK_MPI(MPI_Group_free(&first));
	CHECK_MPI(MPI_Group_free(&end));
}

// All others are origins of one target, several epochs one after another without any other meeting.
static void one_target(int target, int nocheck)
{
	int others[64], n = 0;
	for (int r = 0; r < np; r++) {
		if (r != target)
			others[n++] = r;
	}
	MPI_Group origins = group_of(n, others), targets = group_of(1, &target);
	for (int round = 0; round < 10; round++) {
		if (me == target) {
			for (int i = 0; i < np; i++)
				memory[i] = -1;
			CHECK_MPI(MPI_Win_post(origins, nocheck ? MPI_MODE_NOCHECK : 0, win));
			if (nocheck)
				barrier();
			CHECK_MPI(MPI_Win_wait(win));
			for (int i = 0; i < np; i++)
				CHECK_INT(memory[i], i == target ? -1 : 50 * round + i);
		} else {
			long value = 50 * round + me, got = -2;
			if (nocheck)
				barrier();
			CHECK_MPI(MPI_Win_start(targets, nocheck ? MPI_MODE_NOCHECK : 0, win));
			CHECK_MPI(MPI_Get(&got, 1, MPI_LONG, target, target, 1, MPI_LONG, win));
			CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, target, me, 1, MPI_LONG, win));
			CHECK_MPI(MPI_Win_complete(win));
			CHECK_INT(got, -1);
		}
	}
	CHECK_MPI(MPI_Group_free(&origins));
	CHECK_MPI(MPI_Group_free(&targets));
}

// The first rank puts at the last one, short and long, and gets, in all mixtures, with no call but
// these that completes anything: gets have their data after MPI_Win_complete, puts after
// MPI_Win_wait.
static void mixtures(void)
{
	enum { LONGS = 5000, ROUNDS = 64 };
	int zero = 0, last = np - 1;
	long *all, *many = calloc(LONGS, sizeof *many);
	MPI_Win big;
	if (np == 1) {
		free(many);
		return;
	}
	MPI_Group first = group_of(1, &zero), end = group_of(1, &last);
	CHECK_MPI(MPI_Win_allocate((2 + LONGS) * (MPI_Aint)sizeof(long), sizeof(long),
		MPI_INFO_NULL, MPI_COMM_WORLD, &all, &big));
	for (long round = 1; round <= ROUNDS; round++) {
		int gets = round & 1, puts = round & 2, whole = round % 16 >= 12;
		long one = round, got = 0;
		if (me == last) {
			all[1] = -round;
			CHECK_MPI(MPI_Win_post(first, 0, big));
			CHECK_MPI(MPI_Win_wait(big));
			if (puts)
				CHECK_INT(all[0], round);
			if (whole)
				CHECK_INT(all[1 + LONGS], round);
		} else if (me == 0) {
			many[LONGS - 1] = round;
			CHECK_MPI(MPI_Win_start(end, 0, big));
			if (gets)
				CHECK_MPI(MPI_Get(&got, 1, MPI_LONG, last, 1, 1, MPI_LONG, big));
			if (whole)
				CHECK_MPI(MPI_Put(many, LONGS, MPI_LONG, last, 2, LONGS, MPI_LONG,
					big));
			if (puts)
				CHECK_MPI(MPI_Put(&one, 1, MPI_LONG, last, 0, 1, MPI_LONG, big));
			CHECK_MPI(MPI_Win_complete(big));
			CHECK_INT(got, gets ? -round : 0);
		}
	}
	CHECK_MPI(MPI_Win_free(&big));
	CHECK_MPI(MPI_Group_free(&first));
	CHECK_MPI(MPI_Group_free(&end));
	free(many);
}

// Two halves at the same time; in each the first rank is the origin of all others. Empty groups do
// nothing.
static void subgroups(void)
{
	int mine[64], n = 0;
	for (int r = me % 2; r < np; r += 2)
		mine[n++] = r;
	MPI_Group first = group_of(1, mine), rest = group_of(n - 1, mine + 1);
	long value = 77 + me % 2;
	CHECK_MPI(MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
	CHECK_MPI(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
	CHECK_MPI(MPI_Win_complete(win));
	CHECK_MPI(MPI_Win_wait(win));
	if (me == mine[0]) {
		CHECK_MPI(MPI_Win_start(rest, 0, win));
		for (int i = 1; i < n; i++)
			CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, mine[i], np, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Win_complete(win));
	} else {
		CHECK_MPI(MPI_Win_post(first, MPI_MODE_NOSTORE, win));
		CHECK_MPI(MPI_Win_wait(win));
		CHECK_INT(memory[np], value);
	}
	CHECK_MPI(MPI_Group_free(&first));
	CHECK_MPI(MPI_Group_free(&rest));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(np < 64);
	CHECK_MPI(MPI_Win_allocate((np + 1) * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &memory, &win));
	CHECK_MPI(MPI_Win_get_group(win, &world));
	for (int round = 0; round < check_rounds(20); round++) {
		all_with_all(round);
		barrier(); // the next round's zero
	}
	for (int round = 0; round < check_rounds(30); round++)
		ring(round, round % 2, round % 4 / 2);
	barrier();
	not_yet();
	for (int target = 0; target < np; target++) {
		barrier();
		one_target(target, 0);
	}
	barrier();
	one_target(np - 1, 1);
	barrier();
	subgroups();
	mixtures();
	CHECK_MPI(MPI_Group_free(&world));
	CHECK_MPI(MPI_Win_free(&win));
	return check_end("pscw");
}
