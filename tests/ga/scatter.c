/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter: elements at scattered places: scatter, gather, and scatter-accumulate with places that
 * repeat, within one rank's list and between ranks; all three take the vector path of the library.
 */
#include "gacheck.h"

enum { ROWS = 53, COLS = 31, CELLS = ROWS * COLS };

/* The n-th place of a walk that visits every cell once (911 and CELLS have no common factor). */
static void place(int n, int *at)
{
	int cell = (int)((long)n * 911 % CELLS);

	at[0] = cell / COLS;
	at[1] = cell % COLS;
}

/* Lists of this rank's share of the walk: every n-th step. Returns its length. */
static int share(int **list, int *flat)
{
	int n = 0, step;

	for (step = GA_Nodeid(); step < CELLS; step += GA_Nnodes()) {
		list[n] = flat + 2 * n;
		place(step, list[n]);
		n++;
	}
	return n;
}

static void scatter_gather(int **list, int *flat, double *v)
{
	int dims[2] = {ROWS, COLS}, a = NGA_Create(C_DBL, 2, dims, (char *)"scatter", NULL),
	    n = share(list, flat), i;

	GA_Zero(a);
	for (i = 0; i < n; i++)
		v[i] = check_value(list[i][0], list[i][1]);
	NGA_Scatter(a, v, list, n);
	GA_Sync();
	for (i = 0; i < CELLS; i++) {
		list[i] = flat + 2 * i;
		place(CELLS - 1 - i, list[i]);
		v[i] = -1;
	}
	NGA_Gather(a, v, list, CELLS);
	for (i = 0; i < CELLS; i++)
		CHECK(v[i] == check_value(list[i][0], list[i][1]), "gathered %d is %g", i, v[i]);
	for (i = 0; i < CELLS; i++)
		v[i] = -1;
	NGA_Gather_flat(a, v, flat, CELLS);
	for (i = 0; i < CELLS; i++)
		CHECK(v[i] == check_value(flat[2 * i], flat[2 * i + 1]), "flat gathered %d is %g",
			i, v[i]);
	GA_Sync();
	GA_Destroy(a);
}

/* Every rank adds to every cell once, and three more times to one cell. */
static void accumulate(int **list, int *flat, long *v)
{
	int dims[2] = {ROWS, COLS}, a = NGA_Create(C_LONG, 2, dims, (char *)"add", NULL),
	    n = GA_Nnodes(), i;
	int lo[2] = {0, 0}, hi[2] = {ROWS - 1, COLS - 1}, ld[1] = {COLS};
	long alpha = 3;

	GA_Zero(a);
	for (i = 0; i < CELLS + 3; i++) {
		list[i] = flat + 2 * i;
		place(i < CELLS ? i : 100, list[i]);
		v[i] = list[i][0] + list[i][1] * GA_Nodeid();
	}
	NGA_Scatter_acc(a, v, list, CELLS + 3, &alpha);
	GA_Sync();
	NGA_Get(a, lo, hi, v, ld);
	place(100, flat);
	for (i = 0; i < CELLS; i++) {
		long want = 3L * (n * (i / COLS) + n * (n - 1) / 2 * (i % COLS));

		if (i == flat[0] * COLS + flat[1])
			want *= 4;
		CHECK(v[i] == want, "cell %d is %ld, not %ld", i, v[i], want);
	}
	GA_Sync();
	GA_Destroy(a);
}

int main(int argc, char **argv)
{
	static int *list[CELLS + 3], flat[2 * (CELLS + 3)];
	static double v[CELLS + 3];

	check_start(&argc, &argv);
	scatter_gather(list, flat, v);
	accumulate(list, flat, (long *)v);
	return check_finish("scatter");
}
