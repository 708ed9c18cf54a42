// SPDX-License-Identifier: BSD-3-Clause
// Which rank has which blocks, and where; the elements of the matrix; and whether the product of
// the factors is that matrix.
#include <math.h>
#include <stdlib.h>

#include "lu.h"

int split_most(const struct split *s) { return (s->count + s->parts - 1) / s->parts; }

int split_owner(const struct split *s, int i)
{
	return s->cyclic ? i % s->parts : i / split_most(s);
}

int split_before(const struct split *s, int part, int i)
{
	if (s->cyclic)
		return (i + s->parts - 1 - part) / s->parts;
	int first = part * split_most(s), before = i - first;
	return before < 0 ? 0 : before < split_most(s) ? before : split_most(s);
}

int split_index(const struct split *s, int part, int place)
{
	return s->cyclic ? place * s->parts + part : part * split_most(s) + place;
}

double *lu_block_of(const struct lu *m, int row, int column, int i, int j)
{
	size_t height = (size_t)split_before(&m->by_row, row, m->blocks);
	return (double *)m->memory[lu_rank(m, row, column)] +
		((size_t)j * height + (size_t)i) * m->area;
}

double *lu_block(const struct lu *m, int i, int j)
{
	return lu_block_of(m, m->row, m->column, i, j);
}
int lu_first_row(const struct lu *m, int row, int k)
{
	return split_before(&m->by_row, row, k + 1);
}
int lu_first_column(const struct lu *m, int column, int k)
{
	return split_before(&m->by_column, column, k + 1);
}

int lu_rows_left(const struct lu *m, int row, int k)
{
	return split_before(&m->by_row, row, m->blocks) - lu_first_row(m, row, k);
}

int lu_columns_left(const struct lu *m, int column, int k)
{
	return split_before(&m->by_column, column, m->blocks) - lu_first_column(m, column, k);
}

void lu_make(struct lu *m, int n, int b)
{
	*m = (struct lu){.n = n, .b = b, .area = (size_t)b * (size_t)b, .blocks = n / b};
	app_grid(&m->rows, &m->columns, &m->row, &m->column);
	m->by_row = (struct split){.count = m->blocks, .parts = m->rows};
	m->by_column = (struct split){.count = m->blocks, .parts = m->columns};
	m->memory = app_malloc((size_t)split_most(&m->by_row) * (size_t)split_most(&m->by_column) *
		m->area * sizeof(double));
}

void lu_free(struct lu *m) { app_free(m->memory); }

// An element of the matrix: random in -1 .. 1, and n more on the diagonal, so that no pivots are
// needed.
static double element(int n, int i, int j)
{
	return 2 * app_random_double((uint64_t)i << 32 | (uint64_t)j) + (i == j ? n : 0);
}

void lu_fill(struct lu *m, bool cyclic)
{
	m->by_row.cyclic = m->by_column.cyclic = cyclic;
	m->my_rows = split_before(&m->by_row, m->row, m->blocks);
	m->my_columns = split_before(&m->by_column, m->column, m->blocks);
	for (int j = 0; j < m->my_columns; j++)
		for (int i = 0; i < m->my_rows; i++) {
			double *block = lu_block(m, i, j);
			int row = split_index(&m->by_row, m->row, i) * m->b,
			    column = split_index(&m->by_column, m->column, j) * m->b;
			for (int k = 0; k < m->b * m->b; k++)
				block[k] = element(m->n, row + k / m->b, column + k % m->b);
		}
}

enum what { MATRIX, UPPER, LOWER };

static double coefficient(const struct lu *m, enum what what, const double *block, int row,
	int column, int k)
{
	int i = row + k / m->b, j = column + k % m->b;
	switch (what) {
	case MATRIX: return element(m->n, i, j);
	case UPPER: return i <= j ? block[k] : 0;
	default: return i > j ? block[k] : i == j;
	}
}

// y = the original matrix, U, or L times x; all of both vectors at each rank. Collective.
static void times(const struct lu *m, enum what what, const double *x, double *y)
{
	for (int i = 0; i < m->n; i++) y[i] = 0;
	for (int j = 0; j < m->my_columns; j++)
		for (int i = 0; i < m->my_rows; i++) {
			const double *block = lu_block(m, i, j);
			int row = split_index(&m->by_row, m->row, i) * m->b,
			    column = split_index(&m->by_column, m->column, j) * m->b;
			for (int k = 0; k < m->b * m->b; k++)
				y[row + k / m->b] += coefficient(m, what, block, row, column, k) *
					x[column + k % m->b];
		}
	MPI_Allreduce(MPI_IN_PLACE, y, m->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

bool lu_good(struct lu *m)
{
	size_t bytes = (size_t)m->n * sizeof(double);
	double *x = app_private(bytes), *u = app_private(bytes), *lu = app_private(bytes),
	       *a = app_private(bytes);
	int wrong = 0;
	for (int i = 0; i < m->n; i++) x[i] = element(m->n, m->n + i, 0);
	times(m, UPPER, x, u);
	times(m, LOWER, u, lu);
	times(m, MATRIX, x, a);
	// the norm of A is about 2n
	for (int i = 0; i < m->n; i++) wrong += !(fabs(lu[i] - a[i]) <= 1e-13 * m->n);
	free(x);
	free(u);
	free(lu);
	free(a);
	return app_greatest(wrong) == 0;
}
