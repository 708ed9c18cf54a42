// SPDX-License-Identifier: BSD-3-Clause
// Runs a case, samples of ours and of its baseline by turns, and prints its figure. Knows no
// operation.
#include "perf.h"

static bool wrong;

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

void perf_figures(const struct perf_case *c, const double *ours, const double *raw, int reps)
{
	struct timing_figure f = {c->op, perf_label, c->shape, c->bytes, perf_n, c->unit};
	if (perf_me == 0)
		timing_print(&f, ours, raw, reps);
}

void perf_check(const char *name, double got, double want)
{
	if (perf_me == 0)
		timing_check(name, got, want);
	wrong = wrong || got != want;
}

bool perf_failed(void) { return wrong; }

// A loop as it is sampled: by rank 0, or by all at the same time.
struct loop {
	const struct perf_case *c;
	perf_body body;
	double *clock;
	bool all;
};

static struct loop loop_of(const struct perf_case *c, perf_body body, bool all)
{
	return (struct loop){c, body, body == c->ours ? c->clock : c->raw_clock, all};
}

// Seconds that n turns take: of all ranks if all work.
static double sample(void *arg, long n)
{
	const struct loop *l = arg;
	if (l->all)
		ARMCI_Barrier();
	if (l->clock)
		*l->clock = 0;
	double begin = timing_now();
	l->body(l->c->arg, n);
	double end = timing_now();
	if (l->clock)
		return l->all ? perf_greatest(*l->clock) : *l->clock;
	return l->all ? perf_elapsed(begin, end) : end - begin;
}

// The seconds of a turn in the unit of the case.
static double in_unit(const struct perf_case *c, double each, bool all)
{
	double ranks = all && c->unit != TIMING_NS ? perf_n : 1;
	return timing_in_unit(c->unit, each / (c->ops > 0 ? c->ops : 1) / ranks, c->bytes);
}

// Runs the body without measuring: a process that has slept is slower at first.
static void warm(const struct perf_case *c, perf_body body, long n)
{
	for (double begin = timing_now(); timing_now() - begin < c->warm;) body(c->arg, n);
}

enum { FEW = 64, PARTS = 8 };

static void run(const struct perf_case *c, double seconds, bool all)
{
	struct loop loops[2] = {loop_of(c, c->ours, all), loop_of(c, c->raw, all)};
	struct timing_way ways[2] = {{.sample = sample, .arg = &loops[0]},
		{.sample = sample, .arg = &loops[1]}};
	int count = c->raw ? 2 : 1, parts = 1;
	for (int i = 0; i < count; i++)
		ways[i].n = timing_turns(sample, &loops[i], seconds, 1);
	if (!all && ways[0].n < FEW) {
		// long operations: memory's mood changes between two samples, so they take turns
		// within them
		parts = PARTS;
		for (int i = 0; i < count; i++) ways[i].n = ways[i].n / PARTS + 1;
	}
	for (int rep = 0; rep < perf_reps; rep++) {
		if (!all)
			warm(c, c->ours, ways[0].n);
		timing_repeat(ways, count, rep, parts);
		for (int i = 0; i < count; i++)
			ways[i].each[rep] = in_unit(c, ways[i].each[rep], all);
	}
	perf_figures(c, ways[0].each, c->raw ? ways[1].each : NULL, perf_reps);
}

double perf_sample(const struct perf_case *c, perf_body body, double seconds, long *n)
{
	struct loop l = loop_of(c, body, false);
	if (*n == 0)
		*n = timing_turns(sample, &l, seconds, 1);
	warm(c, body, *n);
	return in_unit(c, sample(&l, *n) / (double)*n, false);
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
