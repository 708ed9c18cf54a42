// SPDX-License-Identifier: BSD-3-Clause
// A figure as all programs that measure print it, for internal/figure: the median of its
// repetitions and their extremes, and those of its baseline, on one line, tab-separated:
//   PERF  op shape bytes ranks unit ours least most raw least most ratio (raw and ratio 0 without a
//         baseline)
// Needs no library and no MPI.
#ifndef ROW_H
#define ROW_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_REPS_MAX 99 // repetitions of a figure

struct row {
	// words without blanks; the label is appended to op; shape "-": none
	const char *op, *label, *shape;
	double bytes;
	int ranks;
	const char *unit;
};

static inline int row_by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static inline double row_median(const double *v, int n)
{
	double s[ROW_REPS_MAX];
	memcpy(s, v, (size_t)n * sizeof *s);
	qsort(s, (size_t)n, sizeof *s, row_by_size);
	return n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
}

static inline void row_values(const double *v, int n)
{
	double least = v[0], most = v[0];
	for (int i = 1; i < n; i++) {
		least = v[i] < least ? v[i] : least;
		most = v[i] > most ? v[i] : most;
	}
	printf("\t%.6g\t%.6g\t%.6g", row_median(v, n), least, most);
}

// raw NULL: no baseline. ratio is the median of ours/raw, pair by pair.
static inline void row_print(const struct row *r, const double *ours, const double *raw, int n,
	double ratio)
{
	static const double none;
	printf("PERF\t%s%s\t%s\t%.0f\t%d\t%s", r->op, r->label, r->shape, r->bytes, r->ranks,
		r->unit);
	row_values(ours, n);
	row_values(raw ? raw : &none, raw ? n : 1);
	printf("\t%.6g\n", ratio);
}

#endif
