// SPDX-License-Identifier: BSD-3-Clause
// Runs a case: finds how many operations make a sample of decent length, then alternates samples of
// ours and of
//  baseline, so that whatever else the machine does hits both. Knows no operation.
#define _GNU_SOURCE
#include "perf.h"

#include <time.h>

double perf_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double perf_greatest(double x)
{
	armci_msg_dgop(&x, 1, (char *)"max");
	return x;
}

double perf_total(double x)
{
	armci_msg_dgop(&x, 1, (char *)"+");
	return x;
}

double perf_elapsed(double begin, double end)
{
	double ends[2] = {end, -begin};
	armci_msg_dgop(ends, 2, (char *)"max");
	return ends[0] + ends[1];
}

double perf_pace(double quick, double full) { return perf_quick ? quick : full; }

// Seconds that n turns take: of all ranks if all work.
static double sample(const struct perf_case *c, perf_body body, long n, bool all)
{
	double *clock = body == c->ours ? c->clock : c->raw_clock;
	if (all)
		ARMCI_Barrier();
	if (clock)
		*clock = 0;
	double begin = perf_now();
	body(c->arg, n);
	double end = perf_now();
	if (clock)
		return all ? perf_greatest(*clock) : *clock;
	return all ? perf_elapsed(begin, end) : end - begin;
}

// How many operations take about `seconds`. Also warms everything up: the first may have to
// connect.
static long enough(const struct perf_case *c, perf_body body, double seconds, bool all)
{
	long n = 1;
	sample(c, body, n, all);
	for (;;) {
		double t = sample(c, body, n, all);
		if (t >= seconds / 3)
			return (long)((double)n * seconds / t) + 1;
		n *= t < seconds / 30 ? 8 : 2;
	}
}

static double in_unit(const struct perf_case *c, double seconds, long n, bool all)
{
	double each = seconds / (double)n / (c->ops > 0 ? c->ops : 1);
	switch (c->unit) {
	case PERF_MBS: return c->bytes * (all ? perf_n : 1) / each / 1e6;
	case PERF_MOPS: return (all ? perf_n : 1) / each / 1e6;
	default: return each * 1e9;
	}
}

// Runs the body without measuring: a process that has slept is slower at first.
static void warm(const struct perf_case *c, perf_body body, long n)
{
	for (double begin = perf_now(); perf_now() - begin < c->warm;) body(c->arg, n);
}

enum { FEW = 64, TURNS = 8 };

// One repetition: `turns` samples each of n of ours and of m of the raw operation.
static void repeat(const struct perf_case *c, long n, long m, bool all, int turns, bool raw_first,
	double *ours, double *raw)
{
	double t = 0, raw_t = 0;
	if (!all)
		warm(c, c->ours, n);
	for (int i = 0; i < turns; i++, raw_first = !raw_first) {
		if (c->raw && raw_first)
			raw_t += sample(c, c->raw, m, all);
		t += sample(c, c->ours, n, all);
		if (c->raw && !raw_first)
			raw_t += sample(c, c->raw, m, all);
	}
	*ours = in_unit(c, t, n * turns, all);
	if (c->raw)
		*raw = in_unit(c, raw_t, m * turns, all);
}

static void run(const struct perf_case *c, double seconds, bool all)
{
	double ours[PERF_REPS_MAX], raw[PERF_REPS_MAX];
	long n = enough(c, c->ours, seconds, all), m = c->raw ? enough(c, c->raw, seconds, all) : 0;
	int turns = 1;
	if (!all && n < FEW) {
		// long operations: memory's mood changes between two samples, so they take turns
		// within them
		turns = TURNS;
		n = n / TURNS + 1;
		m = m / TURNS + 1;
	}
	for (int i = 0; i < perf_reps; i++) repeat(c, n, m, all, turns, i % 2, &ours[i], &raw[i]);
	perf_figures(c, ours, c->raw ? raw : NULL, perf_reps);
}

double perf_sample(const struct perf_case *c, perf_body body, double seconds, long *n)
{
	if (*n == 0)
		*n = enough(c, body, seconds, false);
	warm(c, body, *n);
	return in_unit(c, sample(c, body, *n, false), *n, false);
}

// With every baseline that there is, each a row.
static void with_baselines(const struct perf_case *c, double seconds, bool all)
{
	struct perf_case beside = *c;
	bool some = false;
	for (int k = 0; !c->raw && !perf_alone && perf_baseline(&beside, k); k++, beside = *c) {
		run(&beside, seconds, all);
		some = true;
	}
	beside = *c;
	if (perf_alone)
		beside.raw = NULL;
	if (!some)
		run(&beside, seconds, all);
}

void perf_solo(const struct perf_case *c)
{
	ARMCI_Barrier();
	if (perf_me == 0)
		with_baselines(c, perf_pace(0.0002, 0.003), false);
	ARMCI_Barrier();
}

// Longer samples when all work, longest when they must share cores: a time slice is a few
// milliseconds.
void perf_all(const struct perf_case *c)
{
	with_baselines(c,
		perf_n > 2 || c->lasting ? perf_pace(0.005, 0.1) : perf_pace(0.002, 0.015), true);
}
