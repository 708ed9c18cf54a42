// SPDX-License-Identifier: BSD-3-Clause
// srumma: the product of two square matrices that are distributed over a grid of ranks (M.
// Krishnan, J. Nieplocha: SRUMMA: a matrix multiplication algorithm suitable for clusters and
// scalable shared memory systems), by one-sided gets and by ScaLAPACK's pdgemm, which sends
// messages. Both multiply blocks by the same BLAS. It reads the options, makes the matrices and has
// the versions measured.
//
//   srumma [-q] [-r REPS] [-v VERSION,...] [N]...     default: 512 1000 2000; -q: 128
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "srumma.h"

static const struct app_version versions[] = {
	{"pdgemm", pdgemm_run, pdgemm_good},
	{"srumma", srumma_run, srumma_good},
	// gets that are waited for at once: what the overlap gains
	{"srumma-blocking", srumma_blocking_run, srumma_good},
	// a get for each column of a piece: what strided gets gain
	{"srumma-rows", srumma_rows_run, srumma_good},
};

static void multiply(int n)
{
	char shape[16];
	struct product m = {.n = n};
	app_need(n >= 1 && n <= 30000, "the size of the matrices must be 1 to 30000");
	app_grid(&m.p, &m.q, &m.row, &m.column);
	find_want(&m);
	pdgemm_begin(&m);
	srumma_begin(&m);
	snprintf(shape, sizeof shape, "%d", n);
	app_contest("srumma", shape, versions, sizeof versions / sizeof *versions, &m,
		2.0 * n * n * n);
	srumma_end(&m);
	pdgemm_end(&m);
	free(m.want);
}

int main(int argc, char **argv)
{
	static const int usual[] = {512, 1000, 2000};
	int first = app_start(argc, argv, "[N]...", INT_MAX);
	if (first < argc)
		for (int i = first; i < argc; i++) multiply(app_argument(argc, argv, i, 0));
	else if (app_quick)
		multiply(128);
	else
		for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) multiply(usual[i]);
	return app_end();
}
