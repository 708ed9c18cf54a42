// SPDX-License-Identifier: BSD-3-Clause
// jacobi: the 5-point Jacobi iteration for Laplace's equation on a square that is divided among a
// grid of ranks, which exchange the edges of their parts in each iteration, by messages and by
// one-sided puts. The exchange is under way while the points that do not need it are computed. It
// reads the options, has the versions measured, and checks them against a serial run.
//
//   jacobi [-q] [-r REPS] [-v VERSION,...] [N [ITERATIONS]]     default: 1024, 1000; -q: 128, 50
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jacobi.h"

// The value that a point begins with; those around the square keep it.
static double first_value(const struct field *f, int i, int j)
{
	if (i == 0)
		return 1;
	if (i > f->n || j == 0 || j > f->n)
		return 0;
	return (double)((i * 31 + j * 17) % 64) / 64;
}

// Fills a grid of the rows and columns from (top, left) on, with its halo.
static void fill(const struct field *f, double *grid, int top, int left, int rows, int columns)
{
	for (int i = 0; i < rows + 2; i++)
		for (int j = 0; j < columns + 2; j++)
			grid[i * (columns + 2) + j] = first_value(f, top + i, left + j);
}

// What all ranks together must come to; rank 0 computes it.
static void serial(struct field *f)
{
	size_t bytes = (size_t)(f->n + 2) * (size_t)(f->n + 2) * sizeof(double);
	double *grid[2] = {app_private(bytes), app_private(bytes)};
	for (int i = 0; i < 2; i++) fill(f, grid[i], 0, 0, f->n, f->n);
	for (int t = 0; app_me == 0 && t < f->iterations; t++)
		relax(grid[t % 2], grid[1 - t % 2], f->n + 2, 1, f->n + 1, 1, f->n + 1);
	f->serial = grid[f->iterations % 2];
	free(grid[1 - f->iterations % 2]);
	for (int i = 0; i < f->n + 2; i++)
		MPI_Bcast(f->serial + (size_t)i * (size_t)(f->n + 2), f->n + 2, MPI_DOUBLE, 0,
			MPI_COMM_WORLD);
}

// Each point is computed from the same numbers in the same order as serially, so it is the same.
static bool good(void *field)
{
	struct field *f = field;
	const double *mine = f->grid[f->iterations % 2][app_me];
	int wrong = 0;
	for (int i = 1; i <= f->rows; i++)
		for (int j = 1; j <= f->columns; j++)
			wrong += mine[i * f->stride + j] !=
				f->serial[(size_t)(f->top + i) * (size_t)(f->n + 2) +
					(size_t)(f->left + j)];
	return app_greatest(wrong) == 0;
}

static void outer(const struct field *f, const double *from, double *to)
{
	relax(from, to, f->stride, 1, 2, 1, f->columns + 1);
	if (f->rows > 1)
		relax(from, to, f->stride, f->rows, f->rows + 1, 1, f->columns + 1);
	relax(from, to, f->stride, 2, f->rows, 1, 2);
	if (f->columns > 1)
		relax(from, to, f->stride, 2, f->rows, f->columns, f->columns + 1);
}

static double run(struct field *f, const struct exchange *exchange)
{
	for (int i = 0; i < 2; i++)
		fill(f, f->grid[i][app_me], f->top, f->left, f->rows, f->columns);
	ARMCI_Barrier();
	double begin = timing_now();
	for (int t = 0; t < f->iterations; t++) {
		const double *from = f->grid[t % 2][app_me];
		double *to = f->grid[1 - t % 2][app_me];
		APP_COMM(exchange->begin(f, t % 2));
		relax(from, to, f->stride, 2, f->rows, 2, f->columns);
		APP_COMM(exchange->end(f, t % 2));
		outer(f, from, to);
	}
	APP_COMM(MPI_Barrier(MPI_COMM_WORLD));
	return timing_now() - begin;
}

static double run_messages(void *field) { return run(field, &by_messages); }
static double run_puts(void *field) { return run(field, &by_puts); }

static const struct app_version versions[] = {
	{"mpi", run_messages, good},
	{"armci", run_puts, good},
};

static void divide(struct field *f)
{
	app_grid(&f->p, &f->q, &f->row, &f->column);
	app_need(f->n >= f->q, "the grid must have a point for every rank in both directions");
	f->rows = share(f->n, f->row, f->p, &f->top);
	f->columns = share(f->n, f->column, f->q, &f->left);
	f->stride = f->columns + 2;
	f->neighbour[UP] = f->row > 0 ? app_me - f->q : -1;
	f->neighbour[DOWN] = f->row + 1 < f->p ? app_me + f->q : -1;
	f->neighbour[LEFT] = f->column > 0 ? app_me - 1 : -1;
	f->neighbour[RIGHT] = f->column + 1 < f->q ? app_me + 1 : -1;
}

int main(int argc, char **argv)
{
	int first = app_start(argc, argv, "[N [ITERATIONS]]", 2);
	struct field f = {
		.n = app_argument(argc, argv, first, app_quick ? 128 : 1024),
		.iterations = app_argument(argc, argv, first + 1, app_quick ? 50 : 1000),
	};
	app_need(f.n >= 1 && f.n <= 20000 && f.iterations >= 1,
		"the size must be 1 to 20000, and the number of iterations positive");
	divide(&f);
	serial(&f);
	for (int i = 0; i < 2; i++)
		f.grid[i] = app_malloc((size_t)(f.rows + 2) * (size_t)f.stride * sizeof(double));
	char shape[32];
	snprintf(shape, sizeof shape, "%dx%d", f.n, f.iterations);
	app_contest("jacobi", shape, versions, sizeof versions / sizeof *versions, &f,
		4.0 * f.n * f.n * f.iterations);
	for (int i = 1; i >= 0; i--) app_free(f.grid[i]);
	free(f.serial);
	return app_end();
}
