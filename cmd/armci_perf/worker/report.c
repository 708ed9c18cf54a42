// SPDX-License-Identifier: BSD-3-Clause
// The lines a worker prints for armci_perf, tab-separated, one figure or check a line:
//   PERF  op shape bytes ranks unit ours least most raw least most ratio     (raw and ratio 0 without a baseline)
//   CHECK name got want ok|WRONG
// ours and raw are medians, followed by the extremes; ratio is the median of ours/raw pair by pair.
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool wrong;

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(const double *v, int n)
{
	double s[PERF_REPS_MAX];
	memcpy(s, v, (size_t)n * sizeof *s);
	qsort(s, (size_t)n, sizeof *s, by_size);
	return n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
}

static double end(const double *v, int n, int sign)
{
	double e = v[0];
	for (int i = 1; i < n; i++) e = sign * v[i] > sign * e ? v[i] : e;
	return e;
}

static const char *const unit_name[] = {"ns", "MB/s", "Mop/s", "%", "MiB", "share"};

void perf_figures(const struct perf_case *c, const double *ours, const double *raw, int reps)
{
	double ratio[PERF_REPS_MAX] = {0}, none[1] = {0};
	if (perf_me != 0)
		return;
	for (int i = 0; raw && i < reps; i++)
		ratio[i] = raw[i] != 0 ? ours[i] / raw[i] : 0;
	const double *base = raw ? raw : none;
	int n = raw ? reps : 1;
	printf("PERF\t%s%s\t%s\t%.0f\t%d\t%s\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\t%.6g\n", c->op, perf_label, c->shape, c->bytes, perf_n,
		unit_name[c->unit], median(ours, reps), end(ours, reps, -1), end(ours, reps, 1), median(base, n), end(base, n, -1),
		end(base, n, 1), median(ratio, n));
}

void perf_check(const char *name, double got, double want)
{
	bool ok = got == want;
	wrong = wrong || !ok;
	if (perf_me == 0)
		printf("CHECK\t%s\t%.17g\t%.17g\t%s\n", name, got, want, ok ? "ok" : "WRONG");
}

bool perf_failed(void) { return wrong; }
