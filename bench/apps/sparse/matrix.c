// SPDX-License-Identifier: BSD-3-Clause
// Entries and rows of a matrix, the product, and how x follows from y. Nothing here knows of ranks.
#include <stdlib.h>

#include "sparse.h"

static void *grown(void *old, int count, size_t size)
{
	void *p = realloc(old, (size_t)count * size);
	app_need(p != NULL, "no memory for the matrix");
	return p;
}

void entries_add(struct entries *e, int row, int column, double value)
{
	if (e->count == e->room) {
		e->room += e->room / 2 + 1024;
		e->row = grown(e->row, e->room, sizeof *e->row);
		e->column = grown(e->column, e->room, sizeof *e->column);
		e->value = grown(e->value, e->room, sizeof *e->value);
	}
	e->row[e->count] = row;
	e->column[e->count] = column;
	e->value[e->count++] = value;
}

void entries_free(struct entries *e)
{
	free(e->row);
	free(e->column);
	free(e->value);
	*e = (struct entries){0};
}

struct rows rows_of(const struct entries *e)
{
	struct rows a = {.count = e->n};
	a.start = app_private(((size_t)e->n + 2) * sizeof *a.start);
	a.column = app_private((size_t)e->count * sizeof *a.column);
	a.value = app_private((size_t)e->count * sizeof *a.value);
	// next[i]: where row i's next entry goes; in the end, where row i+1 begins
	int *next = a.start + 1;
	for (int k = 0; k < e->count; k++) next[e->row[k] + 1]++;
	for (int i = 0; i < e->n; i++) next[i + 1] += next[i];
	for (int k = 0; k < e->count; k++) {
		int at = next[e->row[k]]++;
		a.column[at] = e->column[k];
		a.value[at] = e->value[k];
	}
	return a;
}

void rows_free(struct rows *a)
{
	free(a->start);
	free(a->column);
	free(a->value);
	*a = (struct rows){0};
}

void multiply(const struct rows *a, const double *x, double *y)
{
	for (int i = 0; i < a->count; i++) {
		double sum = 0;
		for (int k = a->start[i]; k < a->start[i + 1]; k++)
			sum += a->value[k] * x[a->column[k]];
		y[i] = sum;
	}
}

// Sixteen numbers without a pattern: which of them an element gets changes with every product, so
// that an old x is seen.
static const double shade[16] = {
	0.91,
	-0.37,
	0.22,
	0.68,
	-0.83,
	0.05,
	-0.54,
	0.41,
	-0.12,
	0.77,
	-0.66,
	0.33,
	0.59,
	-0.95,
	0.14,
	-0.28,
};

double x_first(int i) { return shade[i & 15]; }
double x_next(int i, int k, double scale, double y)
{
	return scale * y + shade[(i + 5 * (k + 1)) & 15];
}
