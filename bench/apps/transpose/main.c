// SPDX-License-Identifier: BSD-3-Clause
// transpose: a matrix that is distributed by block rows is transposed, by messages and by one-sided
// transfers. Rounds go from A to B and back, so that each needs all of the one before. It reads the
// options and has the versions measured and checked.
//
//   transpose [-q] [-r REPS] [-v VERSION,...] [N [ROUNDS]] default: 4096, 5; -q: 256, 3; an odd
//   number of rounds
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "transpose.h"

static double value(const struct transpose *t, int row, int column)
{
	return (double)row * t->n + column;
}

static void begin(struct transpose *t)
{
	double *a = t->a[app_me], *b = t->b[app_me];
	for (int i = 0; i < t->rows; i++)
		for (int j = 0; j < t->n; j++) {
			a[(size_t)i * (size_t)t->n + (size_t)j] = value(t, app_me * t->rows + i, j);
			b[(size_t)i * (size_t)t->n + (size_t)j] = NAN;
		}
}

// B is A's transpose, element by element.
static bool good(void *arg)
{
	struct transpose *t = arg;
	double *b = t->b[app_me];
	int wrong = 0;
	for (int i = 0; i < t->rows; i++)
		for (int j = 0; j < t->n; j++)
			wrong += b[(size_t)i * (size_t)t->n + (size_t)j] !=
				value(t, j, app_me * t->rows + i);
	return app_greatest(wrong) == 0;
}

static double rounds(struct transpose *t, void (*one)(struct transpose *, void **, void **))
{
	begin(t);
	ARMCI_Barrier();
	double start = timing_now();
	for (int i = 0; i < t->rounds; i++) {
		one(t, i % 2 ? t->b : t->a, i % 2 ? t->a : t->b);
		if (one == round_put)
			APP_COMM(ARMCI_Barrier()); // with a fence
		else if (one == round_get)
			APP_COMM(MPI_Barrier(MPI_COMM_WORLD)); // others have what they need of mine
	}
	if (one == round_mpi || one == round_mpi_types)
		APP_COMM(MPI_Barrier(MPI_COMM_WORLD));
	return timing_now() - start;
}

static double run_mpi(void *t) { return rounds(t, round_mpi); }
static double run_mpi_types(void *t) { return rounds(t, round_mpi_types); }
static double run_get(void *t) { return rounds(t, round_get); }
static double run_put(void *t) { return rounds(t, round_put); }

static const struct app_version versions[] = {
	{"mpi", run_mpi, good},
	{"mpi-types", run_mpi_types, good}, // a derived type puts the rows in place
	{"armci-get", run_get, good},
	{"armci-put", run_put, good},
};

int main(int argc, char **argv)
{
	int first = app_start(argc, argv, "[N [ROUNDS]]", 2);
	struct transpose t = {
		.n = app_argument(argc, argv, first, app_quick ? 256 : 4096),
		.rounds = app_argument(argc, argv, first + 1, app_quick ? 3 : 5),
	};
	app_need(t.n >= 1 && t.n <= 30000 && t.n % app_n == 0,
		"the size must be 1 to 30000 and a multiple of the number of ranks");
	app_need(t.rounds >= 1 && t.rounds % 2 == 1,
		"the number of rounds must be odd: the last one goes to B");
	t.rows = t.n / app_n;
	size_t bytes = (size_t)t.rows * (size_t)t.n * sizeof(double);
	t.a = app_malloc(bytes);
	t.b = app_malloc(bytes);
	t.out = app_private(bytes);
	t.in = app_private(bytes);
	for (int i = 0; i < 2; i++)
		t.slices[i] = app_local((size_t)t.rows * SLICE * sizeof(double));
	char shape[32];
	snprintf(shape, sizeof shape, "%dx%d", t.n, t.rounds);
	app_contest("transpose", shape, versions, sizeof versions / sizeof *versions, &t, 0);
	for (int i = 0; i < 2; i++) ARMCI_Free_local(t.slices[i]);
	free(t.in);
	free(t.out);
	app_free(t.b);
	app_free(t.a);
	return app_end();
}
