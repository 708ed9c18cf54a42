// SPDX-License-Identifier: BSD-3-Clause
// restart.c - a matrix with the step in its elements: restored from what an earlier job has left,
// with any number of ranks, then changed and saved step by step. It may be killed at any moment.
//
//   restart PREFIX STEPS [RANK MILLISECONDS]   that rank is killed so long after the start
#include "check.h"
#include <armcix.h>
#include <signal.h>
#include <time.h>

enum { ROWS = 1021, COLUMNS = 513 };

static long lo[2], hi[2];
static double *mine;

// Ranks are rows and columns of a grid, as square as their number allows.
static void divide(void)
{
	int down = 1;
	for (int d = 1; d * d <= np; d++)
		if (np % d == 0)
			down = d;
	int across = np / down, row = me / across, column = me % across;
	lo[0] = (long)ROWS * row / down, hi[0] = (long)ROWS * (row + 1) / down;
	lo[1] = (long)COLUMNS * column / across, hi[1] = (long)COLUMNS * (column + 1) / across;
}

static double element(long i, long j, int step) { return (double)(i * COLUMNS + j) + step * 0.125; }

static double *at(long i, long j)
{
	return mine + (i - lo[0]) * (hi[1] - lo[1]) + (j - lo[1]);
}

static void fill(int step)
{
	for (long i = lo[0]; i < hi[0]; i++)
		for (long j = lo[1]; j < hi[1]; j++)
			*at(i, j) = element(i, j, step);
}

static void check_step(int step)
{
	for (long i = lo[0]; i < hi[0]; i++)
		for (long j = lo[1]; j < hi[1]; j++)
			if (*at(i, j) != element(i, j, step))
				check_fail(__FILE__, __LINE__, "%ld,%ld is %g in step %d", i, j,
					*at(i, j), step);
	int sum = step;
	armci_msg_igop(&sum, 1, "+");
	CHECK_INT(sum, step * np);
}

// The kernel kills this process after so long, whatever it is doing.
static void kill_after(int millis)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct itimerspec when = {.it_value = {millis / 1000, millis % 1000 * 1000000L}};
	timer_t timer;
	CHECK_OK(timer_create(CLOCK_MONOTONIC, &ev, &timer));
	CHECK_OK(timer_settime(timer, 0, &when, NULL));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(argc > 2);
	divide();
	size_t bytes = sizeof(double) * (size_t)((hi[0] - lo[0]) * (hi[1] - lo[1]));
	void **base = check_malloc((armci_size_t)bytes);
	mine = base[me];
	int step = 0;
	armci_ckpt_ds_t ds;
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	ARMCI_Ckpt_create_ds(&ds, 2);
	ds.ptr_arr[0] = &step, ds.sz[0] = sizeof step;
	ds.ptr_arr[1] = mine, ds.sz[1] = bytes;
	int rid = ARMCI_Ckpt_init(argv[1], &world, 0, 0, &ds);
	CHECK(rid > 0);
	CHECK_OK(ARMCIX_Ckpt_distribute(rid, 0, 0, 0, NULL, NULL, NULL));
	long dims[2] = {ROWS, COLUMNS};
	CHECK_OK(ARMCIX_Ckpt_distribute(rid, 1, 2, sizeof(double), dims, lo, hi));
	if (ARMCIX_Ckpt_generation(rid) > 0) {
		ARMCI_Ckpt_Recover(rid, 0);
		check_step(step);
		if (me == 0)
			printf("restored %d\n", step), fflush(stdout);
	}
	if (argc > 4 && atoi(argv[3]) == me)
		kill_after(atoi(argv[4]));
	for (int last = step + atoi(argv[2]); step < last;) {
		fill(++step);
		CHECK_INT(ARMCI_Ckpt(rid), ARMCI_CKPT);
		if (me == 0)
			printf("saved %d\n", step), fflush(stdout);
	}
	ARMCI_Ckpt_finalize(rid);
	check_free(base);
	return check_end("restart");
}
