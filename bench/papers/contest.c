// SPDX-License-Identifier: BSD-3-Clause
// Contests: several ways to do the same thing take turns in one job, so that whatever else the machine does hits all of
// them. Rank 0 decides how often a body is called. Who takes part is told so before each call, outside the time that
// counts; who does not waits in a barrier of the library. It judges nothing.
#include "papers.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16 };

// A turn of a way, as the argument of the bodies that call its body.
struct turn {
	const struct papers_way *way;
	void *arg;
	double spent;
};

bool papers_takes_part(void) { return perf_me == 0 || perf_me == perf_n / 2; }
double papers_seconds(void) { return perf_pace(0.0003, 0.006); }

// How often the others shall call the body that rank 0 is about to call; 0: no more.
static long told(enum papers_who who, long n)
{
	if (who == PAPERS_MPI) {
		MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (who == PAPERS_TOGETHER) {
		armci_msg_bcast(&n, sizeof n, 0);
		armci_msg_barrier();
	}
	return n;
}

static void once(struct turn *t, long n)
{
	double begin = perf_now(), spent;
	if (t->way->clock)
		*t->way->clock = 0;
	t->way->body(t->arg, n);
	spent = t->way->clock ? *t->way->clock : perf_now() - begin;
	t->spent += t->way->who == PAPERS_TOGETHER ? perf_greatest(spent) : spent;
}

// By rank 0.
static void lead(void *arg, long n)
{
	struct turn *t = arg;
	told(t->way->who, n);
	once(t, n);
}

// By the others, as often as they are told.
static void follow(struct turn *t)
{
	for (long n; (n = told(t->way->who, 0)) > 0;) once(t, n);
}

// A sample of a way, on rank 0.
static double sample(const struct perf_case *c, const struct papers_way *way, long *n)
{
	struct turn t = {.way = way, .arg = c->arg};
	struct perf_case led = *c;
	double figure = 0;
	led.ours = lead, led.arg = &t, led.clock = &t.spent;
	if (perf_me == 0) {
		figure = perf_sample(&led, lead, papers_seconds(), n);
		told(way->who, 0);
	} else if (way->who != PAPERS_ALONE) {
		follow(&t);
	}
	ARMCI_Barrier();
	return figure;
}

static int find(const struct papers_way *const *way, int count, const char *name)
{
	for (int i = 0; name && i < count; i++)
		if (strcmp(way[i]->name, name) == 0)
			return i;
	return -1;
}

void papers_contest(const struct perf_case *c, const struct papers_way *ways, const char *beside)
{
	static double figure[MOST][PERF_REPS_MAX];
	const struct papers_way *way[MOST];
	long n[MOST] = {0};
	int count = 0;
	for (; ways->name && count < MOST; ways++)
		if (ways->body)
			way[count++] = ways;
	int base = find(way, count, beside);
	ARMCI_Barrier();
	for (int rep = -1; rep < perf_reps; rep++) // the first is to warm up
		for (int k = 0; k < count; k++) {
			int i = (k + rep + 1) % count;
			figure[i][rep < 0 ? 0 : rep] = sample(c, way[i], &n[i]);
		}
	for (int i = 0; i < count; i++) {
		char op[96];
		struct perf_case row = *c;
		snprintf(op, sizeof op, "%s/%s", c->op, way[i]->name);
		row.op = op;
		perf_figures(&row, figure[i], base >= 0 && i != base ? figure[base] : NULL, perf_reps);
	}
}

struct papers_way papers_raw(const char *op, double bytes)
{
	struct perf_case c = {.op = op, .bytes = bytes};
	struct papers_way way = {.name = "raw"};
	if (!perf_alone && bench_raw_baseline(&c, 0)) {
		way.body = c.raw;
		way.clock = c.raw_clock;
	}
	return way;
}
