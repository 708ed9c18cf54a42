// SPDX-License-Identifier: BSD-3-Clause
// Measures a figure: finds how many turns make a sample of decent length, then alternates samples
// of one-sided communication and of its baseline, and prints medians. Knows no figure.
#define _GNU_SOURCE
#include "windows.h"

#include <stdio.h>
#include <time.h>

#include "row.h"

double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile double sink;

void compute(long rounds)
{
	double x = 1;
	for (long r = 0; r < rounds; r++)
		for (int i = 0; i < 100; i++) x = x * 1.0000001 + 1e-9;
	sink = x;
}

long rounds_of(double seconds)
{
	const long some = 2000;
	double best = 1;
	for (int i = 0; i < 10; i++) {
		double begin = now();
		compute(some);
		double t = now() - begin;
		best = t < best ? t : best;
	}
	return (long)(seconds * (double)some / best);
}

// Seconds of n turns, of the slowest rank, known to all.
static double sample(body b, long n)
{
	MPI_Barrier(MPI_COMM_WORLD);
	double t = b(n);
	MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return t;
}

static long enough(const struct figure *f, body b)
{
	const double seconds = 0.003;
	if (f->turns > 0 || quick)
		return f->turns > 0 ? f->turns : 2;
	sample(b, 2);
	for (long n = 2;; n *= 2) {
		double t = sample(b, n);
		if (t >= seconds / 3)
			return (long)((double)n * seconds / t / 2 + 1) * 2;
	}
}

static double in_unit(const struct figure *f, double seconds, long n)
{
	return f->unit == MBS ? f->bytes * f->ops * (double)n / seconds / 1e6 :
				seconds / (double)n * 1e9;
}

static const char *const unit_name[] = {"ns", "MB/s", "%"};

static void print(const struct figure *f, const double *ours, const double *raw, double ratio,
	int n)
{
	struct row r = {f->op, created ? "/create" : "", f->x, f->bytes, ranks, unit_name[f->unit]};
	if (me != 0)
		return;
	row_print(&r, ours, raw, n, ratio);
	fflush(stdout);
}

void print_figure(const struct figure *f, double value)
{
	print(f, &value, NULL, 0, 1);
}

// Whether there was time enough for a figure, as rank 0 sees it: where ranks do not get their cores
// nothing else ends it.
static bool all_late(double begin)
{
	int late = now() - begin > 1;
	MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return late;
}

struct medians measure(const struct figure *f)
{
	double ours[REPS_MAX], raw[REPS_MAX] = {0}, ratio[REPS_MAX] = {0};
	long n = enough(f, f->ours), m = f->raw ? enough(f, f->raw) : 0;
	int count = 0;
	double begin = now();
	while (count < reps && (count < 3 || !all_late(begin))) {
		int i = count++;
		if (f->raw && i % 2)
			raw[i] = in_unit(f, sample(f->raw, m), m);
		ours[i] = in_unit(f, sample(f->ours, n), n);
		if (f->raw && i % 2 == 0)
			raw[i] = in_unit(f, sample(f->raw, m), m);
		ratio[i] = f->raw && raw[i] > 0 ? ours[i] / raw[i] : 0;
	}
	print(f, ours, raw, row_median(ratio, count), count);
	return (struct medians){row_median(ours, count), row_median(raw, count)};
}
