// SPDX-License-Identifier: BSD-3-Clause
// NAS MG with halos exchanged by messages and by nonblocking puts (mg.h): the V-cycle, its time and its verification.
//
//   mg [-q] [-r REPS] [-v VERSION,...] CLASS     CLASS: S (32^3), W (128^3), A or B (256^3); versions mpi and armci
#include "mg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

#define SMOOTHER_SMALL {-3.0 / 8, 1.0 / 32, -1.0 / 64}
#define SMOOTHER_LARGE {-3.0 / 17, 1.0 / 33, -1.0 / 61}
static const struct mg_class classes[] = {
	{'S', 5, 4, SMOOTHER_SMALL, 0.5307707005734e-04},
	{'W', 7, 4, SMOOTHER_SMALL, 0.6467329375339e-05},
	{'A', 8, 4, SMOOTHER_SMALL, 0.2433365309069e-05},
	{'B', 8, 20, SMOOTHER_LARGE, 0.1800564401355e-05},
};
enum { RANKS_MAX = 8 }; // each rank has a point of the coarsest grid, 2^3

static void begin(const struct mg *m)
{
	if (m->timed)
		app_comm_begin();
}

static void end(const struct mg *m)
{
	if (m->timed)
		app_comm_end();
}

static void exchange(const struct mg *m, double *x, const int *n)
{
	for (int axis = 0; axis < AXES; axis++) {
		if (m->p[axis] == 1) {
			wrap(x, n, axis);
			continue;
		}
		begin(m);
		m->way->swap(m, x, n, axis);
		end(m);
	}
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

// The coarsest u starts from nothing. Its halo, which a neighbour may have put already, is left alone.
static void clear_interior(const struct grid *g)
{
	for (size_t k = 1; k <= (size_t)g->n[2]; k++)
		for (size_t j = 1; j <= (size_t)g->n[1]; j++)
			memset(g->u + k * plane(g->n) + j * row(g->n) + 1, 0, (size_t)g->n[0] * sizeof *g->u);
}

static void v_cycle(const struct mg *m)
{
	const struct grid *g = m->grid;
	for (int k = m->levels; k > 1; k--) {
		rprj3(g[k].r, g[k].n, g[k - 1].r, g[k - 1].n);
		exchange(m, g[k - 1].r, g[k - 1].n);
	}
	clear_interior(&g[1]);
	smooth(m, &g[1]);
	for (int k = 2; k <= m->levels; k++) {
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
	begin(m);
	m->way->sum(&sum);
	end(m);
	m->norm = sqrt(sum / (double)(1L << 3 * m->levels));
}

static void solve(struct mg *m, int iterations)
{
	residual(m, &m->grid[m->levels], m->v);
	take_norm(m);
	for (int i = 0; i < iterations; i++) {
		v_cycle(m);
		residual(m, &m->grid[m->levels], m->v);
	}
	take_norm(m);
}

static void clear(const struct mg *m)
{
	for (int k = 1; k <= m->levels; k++) {
		memset(m->grid[k].u, 0, points(m->grid[k].n) * sizeof(double));
		memset(m->grid[k].r, 0, points(m->grid[k].n) * sizeof(double));
	}
	place_charges(m);
}

static double run(struct mg *m, const struct way *way)
{
	m->way = way;
	clear(m);
	way->barrier();
	solve(m, 1); // not timed, as the report wants it
	way->barrier();
	clear(m);
	way->barrier();
	m->timed = true;
	double begun = app_now();
	solve(m, m->class->iterations);
	APP_COMM(way->barrier());
	m->timed = false;
	return app_now() - begun;
}

static double run_mpi(void *m) { return run(m, &way_mpi); }
static double run_armci(void *m) { return run(m, &way_armci); }

static bool good(void *arg)
{
	const struct mg *m = arg;
	double error = fabs(m->norm - m->class->norm) / m->class->norm;
	if (error <= 1e-8)
		return true;
	if (app_me == 0)
		fprintf(stderr, "mg: norm %.13e, official %.13e\n", m->norm, m->class->norm);
	return false;
}

// Divides the slowest axis first: its faces are contiguous.
static void place(struct mg *m)
{
	for (int a = 0; a < AXES; a++) m->p[a] = 1;
	for (int rest = app_n, a = AXES - 1; rest > 1; rest /= 2, a = (a + AXES - 1) % AXES) m->p[a] *= 2;
	const int step[AXES] = {1, m->p[0], m->p[0] * m->p[1]};
	for (int a = 0; a < AXES; a++) {
		int at = app_me / step[a] % m->p[a], before = (at + m->p[a] - 1) % m->p[a], behind = (at + 1) % m->p[a];
		m->at[a] = at;
		m->beside[a][0] = app_me + (before - at) * step[a];
		m->beside[a][1] = app_me + (behind - at) * step[a];
	}
}

static void allocate(struct mg *m)
{
	size_t all = 0;
	m->levels = m->class->levels;
	for (int k = 1; k <= m->levels; k++) {
		for (int a = 0; a < AXES; a++) m->grid[k].n[a] = (1 << k) / m->p[a];
		all += 2 * points(m->grid[k].n);
	}
	m->all = app_malloc(all * sizeof(double));
	double *next = m->all[app_me];
	for (int k = 1; k <= m->levels; k++) {
		m->grid[k].u = next;
		m->grid[k].r = next + points(m->grid[k].n);
		next += 2 * points(m->grid[k].n);
	}
	m->v = app_private(points(m->grid[m->levels].n) * sizeof *m->v);
	way_mpi_start(m);
	way_armci_start(m);
}

static int refuse(const char *why)
{
	if (app_me == 0)
		fprintf(stderr, "mg: %s\n", why);
	app_end();
	return 2;
}

int main(int argc, char **argv)
{
	const struct app_version versions[] = {{"mpi", run_mpi, good}, {"armci", run_armci, good}};
	struct mg m = {0};
	int first = app_start(argc, argv, "CLASS"), count = argc - first;
	const char *name = app_quick ? "S" : count == 1 ? argv[first] : "";
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (name[0] == classes[i].name && !name[1])
			m.class = &classes[i];
	if (!m.class)
		return refuse("give one class: S, W, A or B");
	if (app_n > RANKS_MAX || (app_n & (app_n - 1)) != 0)
		return refuse("the number of ranks has to be 1, 2, 4 or 8");
	place(&m);
	allocate(&m);
	find_charges(&m);
	double side = 1 << m.levels, flops = 58 * side * side * side * m.class->iterations;
	app_contest("mg", name, versions, 2, &m, flops);
	way_mpi_end();
	way_armci_end();
	app_free(m.all);
	free(m.v);
	return app_end();
}
