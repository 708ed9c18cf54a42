// SPDX-License-Identifier: BSD-3-Clause
// The V-cycle of MG. A grid is divided as long as each rank has a point of it. With more than two
// ranks along an axis that ends before the coarsest grid: every rank then has the whole of the next
// grids, which are small, and computes them by itself.
#include <math.h>
#include <string.h>

#include "mg.h"

static void exchange(const struct mg *m, double *x, const int *n)
{
	for (int axis = 0; axis < AXES; axis++)
		if (m->p[axis] == 1)
			wrap(x, n, axis);
		else
			APP_COMM(m->way->swap(m, x, n, axis));
}

static void residual(const struct mg *m, const struct grid *g, const double *v)
{
	resid(g->u, v, g->r, g->n);
	exchange(m, g->r, g->n);
}

static void smooth(const struct mg *m, const struct grid *g)
{
	psinv(g->r, g->u, g->n, m->class->smoother);
	exchange(m, g->u, g->n);
}

// The coarsest u starts from nothing. Its halo, which a neighbour may have put already, is left
// alone.
static void clear_interior(const struct grid *g)
{
	for (size_t k = 1; k <= (size_t)g->n[2]; k++)
		for (size_t j = 1; j <= (size_t)g->n[1]; j++)
			memset(g->u + k * plane(g->n) + j * row(g->n) + 1, 0,
				(size_t)g->n[0] * sizeof *g->u);
}

// Where row (j, k) of a rank's part begins in the grid of all points.
static size_t part(const struct mg *m, const int *n, const int *all, int j, int k)
{
	return (size_t)(m->at[2] * n[2] + k) * plane(all) +
		(size_t)(m->at[1] * n[1] + j) * row(all) + (size_t)(m->at[0] * n[0]);
}

// Parts of r that are put together at every rank, and the rank's part of u, halos included.
static void gather(const struct mg *m, const struct grid *mine, const struct grid *all)
{
	memset(all->r, 0, points(all->n) * sizeof *all->r);
	for (int k = 1; k <= mine->n[2]; k++)
		for (int j = 1; j <= mine->n[1]; j++)
			memcpy(all->r + part(m, mine->n, all->n, j, k) + 1,
				mine->r + (size_t)k * plane(mine->n) + (size_t)j * row(mine->n) + 1,
				(size_t)mine->n[0] * sizeof *all->r);
	APP_COMM(m->way->sum(all->r, (int)points(all->n)));
	for (int axis = 0; axis < AXES; axis++) wrap(all->r, all->n, axis);
}

static void scatter(const struct mg *m, const struct grid *all, const struct grid *mine)
{
	for (int k = 0; k <= mine->n[2] + 1; k++)
		for (int j = 0; j <= mine->n[1] + 1; j++)
			memcpy(mine->u + (size_t)k * plane(mine->n) + (size_t)j * row(mine->n),
				all->u + part(m, mine->n, all->n, j, k),
				row(mine->n) * sizeof *all->u);
}

static void v_cycle(const struct mg *m);

// u of the coarsest level that is divided.
static void coarsest(const struct mg *m)
{
	const struct grid *g = &m->grid[m->coarsest];
	if (!m->coarse) {
		clear_interior(g);
		smooth(m, g);
		return;
	}
	const struct grid *all = &m->coarse->grid[m->coarsest];
	gather(m, g, all);
	memset(all->u, 0, points(all->n) * sizeof *all->u);
	v_cycle(m->coarse);
	scatter(m, all, g);
}

static void v_cycle(const struct mg *m)
{
	const struct grid *g = m->grid;
	for (int k = m->levels; k > m->coarsest; k--) {
		rprj3(g[k].r, g[k].n, g[k - 1].r, g[k - 1].n);
		if (k - 1 > m->coarsest || !m->coarse)
			exchange(m, g[k - 1].r, g[k - 1].n);
	}
	coarsest(m);
	for (int k = m->coarsest + 1; k <= m->levels; k++) {
		if (k < m->levels)
			memset(g[k].u, 0, points(g[k].n) * sizeof *g[k].u);
		interp(g[k - 1].u, g[k - 1].n, g[k].u, g[k].n);
		residual(m, &g[k], k < m->levels ? g[k].r : m->v);
		smooth(m, &g[k]);
	}
}

static void take_norm(struct mg *m)
{
	const struct grid *top = &m->grid[m->levels];
	double sum = squares(top->r, top->n);
	APP_COMM(m->way->sum(&sum, 1));
	m->norm = sqrt(sum / (double)(1L << 3 * m->levels));
}

void solve(struct mg *m, int iterations)
{
	residual(m, &m->grid[m->levels], m->v);
	take_norm(m);
	for (int i = 0; i < iterations; i++) {
		v_cycle(m);
		residual(m, &m->grid[m->levels], m->v);
	}
	take_norm(m);
}
