// SPDX-License-Identifier: BSD-3-Clause
// NAS MG with halos exchanged by messages and by nonblocking puts (mg.h): their time and its
// verification.
//
//   mg [-q] [-r REPS] [-v VERSION,...] CLASS CLASS: S (32^3), W (128^3), A or B (256^3); versions
//   mpi and armci
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mg.h"

#define SMOOTHER_SMALL {-3.0 / 8, 1.0 / 32, -1.0 / 64}
#define SMOOTHER_LARGE {-3.0 / 17, 1.0 / 33, -1.0 / 61}
static const struct mg_class classes[] = {
	{'S', 5, 4, SMOOTHER_SMALL, 0.5307707005734e-04},
	{'W', 7, 4, SMOOTHER_SMALL, 0.6467329375339e-05},
	{'A', 8, 4, SMOOTHER_SMALL, 0.2433365309069e-05},
	{'B', 8, 20, SMOOTHER_LARGE, 0.1800564401355e-05},
};

static void clear(const struct mg *m)
{
	for (int k = m->coarsest; k <= m->levels; k++) {
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
	app_comm_clear();
	double begun = timing_now();
	solve(m, m->class->iterations);
	APP_COMM(way->barrier());
	return timing_now() - begun;
}

static double run_mpi(void *m) { return run(m, &way_mpi); }
static double run_armci(void *m) { return run(m, &way_armci); }

static bool good(void *arg)
{
	const struct mg *m = arg;
	double error = fabs(m->norm - m->class->norm) / m->class->norm;
	if (error <= 1e-8) // NPB's bound
		return true;
	if (app_me == 0)
		fprintf(stderr, "mg: norm %.13e, official %.13e\n", m->norm, m->class->norm);
	return false;
}

// The grid of ranks: divides the slowest axis first, since its faces are contiguous.
static void divide(struct mg *m)
{
	for (int a = 0; a < AXES; a++) m->p[a] = 1;
	for (int rest = app_n, a = AXES - 1; rest > 1; rest /= 2, a = (a + AXES - 1) % AXES)
		m->p[a] *= 2;
	const int step[AXES] = {1, m->p[0], m->p[0] * m->p[1]};
	for (int a = 0; a < AXES; a++) {
		int at = app_me / step[a] % m->p[a], before = (at + m->p[a] - 1) % m->p[a],
		    behind = (at + 1) % m->p[a];
		m->at[a] = at;
		m->beside[a][0] = app_me + (before - at) * step[a];
		m->beside[a][1] = app_me + (behind - at) * step[a];
	}
	m->levels = m->class->levels;
	// the last axis has the most ranks
	for (m->coarsest = 1; 1 << m->coarsest < m->p[AXES - 1];) m->coarsest++;
}

// Sets the size of each level; returns how many points u and r of all have.
static size_t size_levels(struct mg *m)
{
	size_t all = 0;
	for (int k = m->coarsest; k <= m->levels; k++) {
		for (int a = 0; a < AXES; a++) m->grid[k].n[a] = (1 << k) / m->p[a];
		all += 2 * points(m->grid[k].n);
	}
	return all;
}

// Gives each level its u and r in the memory.
static void place_levels(struct mg *m, double *memory)
{
	for (int k = m->coarsest; k <= m->levels; k++) {
		m->grid[k].u = memory;
		m->grid[k].r = memory + points(m->grid[k].n);
		memory += 2 * points(m->grid[k].n);
	}
}

// The whole of the coarsest grids at every rank.
static struct mg *undivided(const struct mg *m)
{
	struct mg *c = app_private(sizeof *c);
	c->class = m->class;
	c->levels = m->coarsest;
	c->coarsest = 1;
	for (int a = 0; a < AXES; a++) c->p[a] = 1;
	place_levels(c, app_private(size_levels(c) * sizeof(double)));
	c->v = c->grid[c->levels].r;
	return c;
}

static void allocate(struct mg *m)
{
	m->all = app_malloc(size_levels(m) * sizeof(double));
	place_levels(m, m->all[app_me]);
	m->v = app_private(points(m->grid[m->levels].n) * sizeof *m->v);
	if (m->coarsest > 1)
		m->coarse = undivided(m);
	way_mpi_start(m);
	way_armci_start(m);
}

static void release(struct mg *m)
{
	way_mpi_end();
	way_armci_end();
	app_free(m->all);
	free(m->v);
	if (m->coarse)
		free(m->coarse->grid[1].u);
	free(m->coarse);
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
	int first = app_start(argc, argv, "CLASS", 1), count = argc - first;
	const char *name = app_quick ? "S" : count == 1 ? argv[first] : "";
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (name[0] == classes[i].name && !name[1])
			m.class = &classes[i];
	if (!m.class)
		return refuse("give one class: S, W, A or B");
	if ((app_n & (app_n - 1)) != 0)
		return refuse("the number of ranks has to be a power of two");
	divide(&m);
	if (m.coarsest >= m.levels)
		return refuse("too many ranks for this class");
	allocate(&m);
	find_charges(&m);
	// 58 of a point, as NPB counts
	double side = 1 << m.levels, flops = 58 * side * side * side * m.class->iterations;
	app_contest("mg", name, versions, 2, &m, flops);
	release(&m);
	return app_end();
}
