// SPDX-License-Identifier: BSD-3-Clause
// Contests: several ways to do the same thing take turns in one job, so that whatever else the
// machine does hits all of them. Rank 0 decides how often a body is called. A rank that takes part
// is told so before each call, outside the time that counts; other ranks wait in a barrier of the
// library. It judges nothing.
#include "papers.h"

#include <stdio.h>
#include <string.h>

// A turn of a way, as the argument of the bodies that call its body.
struct turn {
	const struct papers_way *way;
	void *arg;
	double spent;
};

bool papers_takes_part(void) { return perf_me == 0 || perf_me == perf_n / 2; }

double papers_tick(void)
{
	static double best;
	for (int i = 0; best == 0 || (i > 0 && i < 1000); i++) {
		double begin = timing_now(), end = timing_now();
		if (best == 0 || end - begin < best)
			best = end - begin;
	}
	return best;
}

static bool by_mpi(enum papers_callers callers)
{
	return callers == PAPERS_MPI || callers == PAPERS_MPI_ALL;
}

// How often the others shall call the body that rank 0 is about to call; 0: no more.
static long told(enum papers_callers callers, long n)
{
	if (by_mpi(callers)) {
		MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (callers == PAPERS_TOGETHER) {
		armci_msg_bcast(&n, sizeof n, 0);
		armci_msg_barrier();
	}
	return n;
}

static void once(struct turn *t, long n)
{
	const struct papers_way *way = t->way;
	if (way->clock)
		*way->clock = 0;
	double begin = timing_now();
	way->body(t->arg, n);
	double spent = way->clock ? *way->clock : timing_now() - begin;
	spent = spent > 0 ? spent : 0;
	if (way->callers == PAPERS_MPI_ALL)
		MPI_Allreduce(MPI_IN_PLACE, &spent, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	t->spent += way->callers == PAPERS_TOGETHER ? perf_greatest(spent) : spent;
}

// By rank 0.
static void lead(void *arg, long n)
{
	struct turn *t = arg;
	told(t->way->callers, n);
	once(t, n);
}

// By the others, as often as they are told.
static void follow(struct turn *t)
{
	for (long n; (n = told(t->way->callers, 0)) > 0;) once(t, n);
}

// Takes a sample on rank 0. On a machine that others keep busy an operation can take a thousand
// times as long as when it was tried: the next sample is shorter then.
static double take(const struct perf_case *c, long *n)
{
	const double seconds = perf_pace(0.0003, 0.006), most = 4;
	double *clock = c->clock, figure = perf_sample(c, c->ours, seconds, n);
	if (*clock > most * seconds)
		*n = (long)((double)*n * seconds / *clock) + 1;
	return figure;
}

// A sample of a way, on rank 0.
static double sample(const struct perf_case *c, const struct papers_way *way, long *n)
{
	struct turn t = {.way = way, .arg = c->arg};
	struct perf_case led = *c;
	double figure = 0;
	led.ours = lead, led.arg = &t, led.clock = &t.spent, led.warm = perf_pace(0, 0.002);
	if (perf_me == 0) {
		figure = take(&led, n);
		told(way->callers, 0);
	} else if (way->callers != PAPERS_ALONE) {
		follow(&t);
	}
	ARMCI_Barrier();
	return figure;
}

void papers_measure(const struct perf_case *c, const struct papers_way *ways,
	double figure[PAPERS_WAYS][TIMING_REPS_MAX])
{
	long n[PAPERS_WAYS] = {0};
	int count = 0;
	while (count < PAPERS_WAYS && ways[count].name) count++;
	ARMCI_Barrier();
	for (int rep = -1; rep < perf_reps; rep++) // the first is to warm up
		for (int k = 0; k < count; k++) {
			int i = timing_order(k, rep, count);
			if (ways[i].body)
				figure[i][rep < 0 ? 0 : rep] = sample(c, &ways[i], &n[i]);
		}
}

void papers_row(const struct perf_case *c, const char *name, const double *figure,
	const double *beside)
{
	char op[96];
	struct perf_case row = *c;
	snprintf(op, sizeof op, "%s/%s", c->op, name);
	row.op = op;
	perf_figures(&row, figure, beside, perf_reps);
}

void papers_contest(const struct perf_case *c, const struct papers_way *ways, const char *beside)
{
	static double figure[PAPERS_WAYS][TIMING_REPS_MAX];
	const double *base = NULL;
	papers_measure(c, ways, figure);
	for (int i = 0; beside && ways[i].name; i++)
		if (ways[i].body && strcmp(ways[i].name, beside) == 0)
			base = figure[i];
	for (int i = 0; ways[i].name; i++)
		if (ways[i].body)
			papers_row(c, ways[i].name, figure[i], base != figure[i] ? base : NULL);
}
