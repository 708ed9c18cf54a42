// SPDX-License-Identifier: BSD-3-Clause
// Factors a dense matrix into a lower and an upper triangular one, without pivoting, in blocks that
// are contiguous in memory: the LU kernel of the SPLASH-2 suite, written from its description, with
// which paper 002 shows ARMCI ("Application study", order 3072, blocks of 32). The blocks are
// divided among a grid of ranks. Step k factors block (k, k), then its owner's row and column of
// the grid finish the blocks right of it and below it, and all ranks subtract products of these
// from the blocks behind.
//
//   lu [-q] [-r REPS] [-v VERSION,...] [N [BLOCK]]     default: 3072, 32; -q: 256, 16
//
// Versions: by messages (mpi), gets (armci) or nonblocking gets of pieces, which arrive while the
// blocks before are computed with (-nb); with blocks divided by turns (mpi, armci-cyclic) or in
// contiguous parts (mpi-block, armci-block). Only the way that finished blocks are brought differs.
#include <stdio.h>

#include "panels.h"

struct work {
	struct lu lu;
	struct panel diagonal, lower, upper;
};

// Finishes what is mine of the column below block (k, k) and of the row right of it.
static void finish(const struct lu *m, const struct panel *diagonal, int k)
{
	int row = split_owner(&m->by_row, k), column = split_owner(&m->by_column, k);
	if (column == m->column)
		for (int i = lu_first_row(m, m->row, k), j = split_before(&m->by_column, column, k);
			i < m->my_rows; i++)
			block_solve_right(lu_block(m, i, j), diagonal->at, m->b);
	if (row == m->row)
		for (int j = lu_first_column(m, m->column, k), i = split_before(&m->by_row, row, k);
			j < m->my_columns; j++)
			block_solve_left(lu_block(m, i, j), diagonal->at, m->b);
}

static void update(const struct lu *m, struct panel *lower, struct panel *upper, int k,
	const struct transport *t)
{
	int first_row = lu_first_row(m, m->row, k), first_column = lu_first_column(m, m->column, k);
	for (int i = 0; i < m->my_rows - first_row; i++) {
		if (t->poll)
			APP_COMM(t->poll());
		for (int j = 0; j < m->my_columns - first_column; j++) {
			if (panel_missing(upper, j))
				APP_COMM(panel_wait(upper, j));
			if (panel_missing(lower, i))
				APP_COMM(panel_wait(lower, i));
			block_update(lu_block(m, first_row + i, first_column + j),
				lower->at + (size_t)i * lower->stride,
				upper->at + (size_t)j * upper->stride, m->b);
		}
	}
}

static double run(struct work *w, bool cyclic, const struct transport *t)
{
	struct lu *m = &w->lu;
	struct panel *diagonal = &w->diagonal, *both[] = {&w->lower, &w->upper};
	lu_fill(m, cyclic);
	ARMCI_Barrier();
	double start = timing_now();
	for (int k = 0; k < m->blocks; k++) {
		panel_diagonal(diagonal, m, k);
		panel_lower(&w->lower, m, k);
		panel_upper(&w->upper, m, k);
		if (diagonal->owner == app_me)
			block_factor((double *)diagonal->at, m->b);
		APP_COMM(t->bring(&diagonal, 1); panel_wait(diagonal, 0));
		finish(m, diagonal, k);
		APP_COMM(t->bring(both, 2));
		update(m, &w->lower, &w->upper, k, t);
	}
	if (t->end)
		APP_COMM(t->end());
	APP_COMM(ARMCI_Barrier());
	return timing_now() - start;
}

static double mpi_cyclic(void *arg) { return run(arg, true, &messages); }
static double mpi_block(void *arg) { return run(arg, false, &messages); }
static double cyclic(void *arg) { return run(arg, true, &gets); }
static double cyclic_nb(void *arg) { return run(arg, true, &nonblocking_gets); }
static double block(void *arg) { return run(arg, false, &gets); }
static double block_nb(void *arg) { return run(arg, false, &nonblocking_gets); }
static bool good(void *arg) { return lu_good(&((struct work *)arg)->lu); }

static const struct app_version versions[] = {
	{"mpi", mpi_cyclic, good},
	{"armci-cyclic", cyclic, good},
	{"armci-cyclic-nb", cyclic_nb, good},
	{"mpi-block", mpi_block, good},
	{"armci-block", block, good},
	{"armci-block-nb", block_nb, good},
};

int main(int argc, char **argv)
{
	static struct work w;
	char shape[32];
	int argument = app_start(argc, argv, "[N [BLOCK]]", 2);
	int n = app_argument(argc, argv, argument, app_quick ? 256 : 3072);
	int b = app_argument(argc, argv, argument + 1, app_quick ? 16 : 32);
	app_need(argc - argument <= 2, "lu: only N and BLOCK");
	app_need(b >= LU_STEP && b <= LU_BLOCK_MAX && b % LU_STEP == 0,
		"lu: BLOCK is a multiple of 8 from 8 to 256");
	app_need(n >= b && n <= LU_ORDER_MAX && n % b == 0,
		"lu: N is a multiple of BLOCK up to 16384");
	lu_make(&w.lu, n, b);
	panel_make(&w.diagonal, &w.lu, 1);
	panel_make(&w.lower, &w.lu, split_most(&w.lu.by_row));
	panel_make(&w.upper, &w.lu, split_most(&w.lu.by_column));
	snprintf(shape, sizeof shape, "%d/%d", n, b);
	app_contest("lu", shape, versions, sizeof versions / sizeof *versions, &w,
		2.0 / 3.0 * n * n * n);
	panel_free(&w.diagonal);
	panel_free(&w.lower);
	panel_free(&w.upper);
	lu_free(&w.lu);
	return app_end();
}
