// SPDX-License-Identifier: BSD-3-Clause
// Distributed matrices: which elements a rank holds, their values, and the verification of a
// product by a vector. The values come from their places, so that every rank can make any of them.
#include <math.h>
#include <stdlib.h>

#include "srumma.h"

int share(int n, int block, int at, int count)
{
	int mine = 0;
	for (int begin = at * block; begin < n; begin += count * block)
		mine += begin + block <= n ? block : n - begin;
	return mine;
}

static int *numbers(int n, int block, int at, int count)
{
	int *list = app_private((size_t)share(n, block, at, count) * sizeof(int)), i = 0;
	for (int begin = at * block; begin < n; begin += count * block)
		for (int k = begin; k < begin + block && k < n; k++) list[i++] = k;
	return list;
}

struct part part_of(const struct product *m, int row_block, int column_block)
{
	struct part part = {.rows = share(m->n, row_block, m->row, m->p),
		.columns = share(m->n, column_block, m->column, m->q)};
	part.stride = part.rows > 0 ? part.rows : 1;
	part.row = numbers(m->n, row_block, m->row, m->p);
	part.column = numbers(m->n, column_block, m->column, m->q);
	return part;
}

// An element; no key is another element's.
static double value(enum matrix which, int row, int column)
{
	return app_random_double((uint64_t)which << 60 | (uint64_t)row << 30 | (uint64_t)column);
}

// The vector; no element is small, so that none of C is without weight.
static double vector(int i) { return 1 + value(VECTOR, i, 0); }

void part_fill(struct part *part, enum matrix which)
{
	for (int j = 0; j < part->columns; j++)
		for (int i = 0; i < part->rows; i++)
			part->at[(size_t)j * (size_t)part->stride + (size_t)i] = value(which,
				part->row[i], part->column[j]);
}

void part_spoil(struct part *part)
{
	for (size_t i = 0; i < (size_t)part->stride * (size_t)part->columns; i++) part->at[i] = NAN;
}

void part_free(struct part *part)
{
	free(part->row);
	free(part->column);
}

static double *sum(double *v, int n)
{
	MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return v;
}

// Matrix times vector, every rank some of the rows.
static double *apply(enum matrix which, int n, const double *x)
{
	double *y = app_private((size_t)n * sizeof(double));
	for (int i = app_me; i < n; i += app_n)
		for (int j = 0; j < n; j++) y[i] += value(which, i, j) * x[j];
	return sum(y, n);
}

void find_want(struct product *m)
{
	double *x = app_private((size_t)m->n * sizeof(double));
	for (int i = 0; i < m->n; i++) x[i] = vector(i);
	double *bx = apply(MATRIX_B, m->n, x);
	m->want = apply(MATRIX_A, m->n, bx);
	free(x);
	free(bx);
}

// Rounding moves an element of C x by about n times the precision of a double; a wrong element of C
// by 1e-3 or more.
bool is_product(const struct product *m, const struct part *c)
{
	double *y = app_private((size_t)m->n * sizeof(double)), greatest = 0;
	for (int j = 0; j < c->columns; j++)
		for (int i = 0; i < c->rows; i++)
			y[c->row[i]] += c->at[(size_t)j * (size_t)c->stride + (size_t)i] *
				vector(c->column[j]);
	sum(y, m->n);
	for (int i = 0; i < m->n; i++) greatest = fmax(greatest, fabs(m->want[i]));
	bool good = true;
	for (int i = 0; i < m->n; i++)
		// also what is no number is wrong
		if (!(fabs(y[i] - m->want[i]) <= 1e-10 * greatest))
			good = false;
	free(y);
	return good;
}
