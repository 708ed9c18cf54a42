// SPDX-License-Identifier: BSD-3-Clause
// The division of the grid and its edges, and the computation of points.
#include "jacobi.h"

int share(int n, int at, int count, int *first)
{
	*first = (int)((long)n * at / count);
	return (int)((long)n * (at + 1) / count) - *first;
}

int neighbour_columns(const struct field *f, enum side side)
{
	int first, step = side == LEFT ? -1 : side == RIGHT;
	return share(f->n, f->column + step, f->q, &first);
}

int neighbour_rows(const struct field *f, enum side side)
{
	int first, step = side == UP ? -1 : side == DOWN;
	return share(f->n, f->row + step, f->p, &first);
}

// The line of points in this row or column, counted with the halo.
static struct edge line(enum side side, int row, int column, int rows, int columns)
{
	size_t stride = (size_t)columns + 2;
	if (side == UP || side == DOWN)
		return (struct edge){(size_t)row * stride + 1, columns, 1};
	return (struct edge){stride + (size_t)column, rows, columns + 2};
}

struct edge inner_edge(enum side side, int rows, int columns)
{
	return line(side, side == UP ? 1 : rows, side == LEFT ? 1 : columns, rows, columns);
}

struct edge halo_edge(enum side side, int rows, int columns)
{
	return line(side, side == UP ? 0 : rows + 1, side == LEFT ? 0 : columns + 1, rows, columns);
}

void relax(const double *from, double *to, int stride, int i0, int i1, int j0, int j1)
{
	for (int i = i0; i < i1; i++) {
		const double *x = from + (size_t)i * (size_t)stride, *up = x - stride,
			     *down = x + stride;
		double *restrict y = to + (size_t)i * (size_t)stride;
		for (int j = j0; j < j1; j++) y[j] = 0.25 * (up[j] + down[j] + x[j - 1] + x[j + 1]);
	}
}
