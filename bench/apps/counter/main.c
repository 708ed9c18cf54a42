// SPDX-License-Identifier: BSD-3-Clause
// counter: a pool of tasks of uneven cost from which every rank takes the next one when it has done
// one, as programs of quantum chemistry do; results are added to a distributed array. By a shared
// counter and accumulates of the library, by those of MPI's windows, and by messages to and from a
// master. It reads the options and has the versions measured and checked.
//
//   counter [-q] [-r REPS] [-v VERSION,...] [TASKS]     default: 20000; -q: 500
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counter.h"

static void begin(struct pool *p)
{
	memset(p->sums[app_me], 0, SEGMENTS * LENGTH * sizeof(double));
	memset(p->done, 0, (size_t)p->tasks * sizeof *p->done);
	if (app_me == 0)
		*(long *)p->count[0] = 0;
	windows_clear(p);
	ARMCI_Barrier();
}

static double run(struct pool *p, void (*all)(struct pool *))
{
	begin(p);
	double start = timing_now();
	all(p);
	APP_COMM(ARMCI_Barrier());
	return timing_now() - start;
}

static double run_messages(void *pool) { return run(pool, pool_messages); }
static double run_mpi_rma(void *pool) { return run(pool, pool_mpi_rma); }
static double run_armci(void *pool) { return run(pool, pool_armci); }

// Checks that each task was done exactly once, and that the sums are exactly those of all results.
static bool good(void *pool)
{
	struct pool *p = pool;
	double want[SEGMENTS * LENGTH] = {0}, result[LENGTH];
	int wrong = 0;
	for (long task = 0; task < p->tasks; task++)
		if (owner_of(task) == app_me) {
			task_do(NULL, task, result);
			add(want + segment_of(task) * LENGTH, result);
		}
	double *sums = p->sums[app_me];
	for (int i = 0; i < SEGMENTS * LENGTH; i++) wrong += sums[i] != want[i];
	MPI_Allreduce(MPI_IN_PLACE, p->done, (int)p->tasks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (long task = 0; task < p->tasks; task++) wrong += p->done[task] != 1;
	return app_greatest(wrong) == 0;
}

static const struct app_version versions[] = {
	{"mpi", run_messages, good},
	{"mpi-rma", run_mpi_rma, good},
	{"armci", run_armci, good},
};

int main(int argc, char **argv)
{
	int first = app_start(argc, argv, "[TASKS]", 1);
	struct pool p = {.tasks = app_argument(argc, argv, first, app_quick ? 500 : 20000)};
	app_need(p.tasks >= 1 && p.tasks <= 10000000, "the number of tasks must be 1 to 10000000");
	p.sums = app_malloc(SEGMENTS * LENGTH * sizeof(double));
	p.count = app_malloc(sizeof(long));
	p.done = app_private((size_t)p.tasks * sizeof *p.done);
	windows_begin(&p);
	char shape[32];
	snprintf(shape, sizeof shape, "%ld", p.tasks);
	app_contest("counter", shape, versions, sizeof versions / sizeof *versions, &p, 0);
	windows_end(&p);
	free(p.done);
	app_free(p.count);
	app_free(p.sums);
	return app_end();
}
