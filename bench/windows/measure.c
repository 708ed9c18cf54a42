// SPDX-License-Identifier: BSD-3-Clause
// Measures a figure, samples of one-sided communication and of its baseline by turns, and prints
// it. Knows no figure.
#include "windows.h"

// Seconds of n turns, of the slowest rank, known to all.
static double sample(void *arg, long n)
{
	MPI_Barrier(MPI_COMM_WORLD);
	double t = (*(const body *)arg)(n);
	MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return t;
}

static long turns(const struct figure *f, body *b)
{
	if (f->turns > 0 || quick)
		return f->turns > 0 ? f->turns : 2;
	return timing_turns(sample, b, 0.003, 2);
}

void print_figure(const struct figure *f, const double *ours, const double *raw, int count)
{
	struct timing_figure t = {f->op, created ? "/create" : "", f->x, f->bytes, ranks, f->unit};
	if (me == 0)
		timing_print(&t, ours, raw, count);
}

// Whether there was time enough for a figure, as rank 0 sees it: where ranks do not get their cores
// nothing else ends it.
static bool all_late(double begin)
{
	int late = timing_now() - begin > 1;
	MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return late;
}

struct samples measure(const struct figure *f)
{
	struct samples s = {.count = 0};
	body bodies[2] = {f->ours, f->raw};
	struct timing_way ways[2] = {{.sample = sample, .arg = &bodies[0]},
		{.sample = sample, .arg = &bodies[1]}};
	int count = f->raw ? 2 : 1;
	for (int i = 0; i < count; i++) ways[i].n = turns(f, &bodies[i]);
	double begin = timing_now();
	while (s.count < reps && (s.count < 3 || !all_late(begin)))
		timing_repeat(ways, count, s.count++, 1);
	for (int i = 0; i < s.count; i++) {
		s.ours[i] = timing_in_unit(f->unit, ways[0].each[i], f->bytes * f->ops);
		s.raw[i] = timing_in_unit(f->unit, ways[1].each[i], f->bytes * f->ops);
	}
	print_figure(f, s.ours, f->raw ? s.raw : NULL, s.count);
	return s;
}
