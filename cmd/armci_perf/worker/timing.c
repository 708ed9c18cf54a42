// SPDX-License-Identifier: BSD-3-Clause
// How long a sample is, samples by turns, and the lines of figures (timing.h).
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>

long timing_turns(timing_sample sample, void *arg, double seconds, long step)
{
	long n = step;
	sample(arg, n);
	for (;;) {
		double t = sample(arg, n);
		if (t >= seconds / 3)
			return ((long)((double)n * seconds / t / (double)step) + 1) * step;
		n *= t < seconds / 30 ? 8 : 2;
	}
}

void timing_repeat(struct timing_way *ways, int count, int rep, int parts)
{
	int at = rep < 0 ? 0 : rep;
	for (int i = 0; i < count; i++) ways[i].each[at] = 0;
	for (int part = 0; part < parts; part++)
		for (int k = 0; k < count; k++) {
			struct timing_way *w = &ways[timing_order(k, rep + part, count)];
			if (w->sample)
				w->each[at] += w->sample(w->arg, w->n) / (double)(w->n * parts);
		}
}

double timing_in_unit(enum timing_unit unit, double seconds, double bytes)
{
	switch (unit) {
	case TIMING_MBS: return bytes / seconds / 1e6;
	case TIMING_MOPS: return 1 / seconds / 1e6;
	default: return seconds * 1e9;
	}
}

static void print_samples(const double *v, int n)
{
	for (int i = 0; i < n; i++) printf("%c%.6g", i ? ' ' : '\t', v[i]);
}

void timing_print(const struct timing_figure *f, const double *ours, const double *raw, int n)
{
	static const char *const unit[] = {"ns", "MB/s", "Mop/s", "%", "MiB", "share"};
	printf("PERF\t%s%s\t%s\t%.0f\t%d\t%s", f->op, f->label, f->shape, f->bytes, f->ranks,
		unit[f->unit]);
	print_samples(ours, n);
	if (raw)
		print_samples(raw, n);
	puts(raw ? "" : "\t-");
	fflush(stdout);
}

bool timing_check(const char *name, double got, double want)
{
	bool ok = got == want;
	printf("CHECK\t%s\t%.17g\t%.17g\t%s\n", name, got, want, ok ? "ok" : "WRONG");
	return ok;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double timing_median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, by_size);
	return (v[n / 2] + v[(n - 1) / 2]) / 2;
}

static volatile double sink;

void timing_compute(long rounds)
{
	double x = 1;
	for (long i = 0; i < 10 * rounds; i++) x = x * 1.0000001 + 1e-9;
	sink = x;
}

long timing_rounds(double seconds)
{
	const long some = 50000;
	double best = 1;
	for (int i = 0; i < 5; i++) {
		double begin = timing_now();
		timing_compute(some);
		double t = timing_now() - begin;
		best = t < best ? t : best;
	}
	return (long)(seconds * (double)some / best) + 1;
}
