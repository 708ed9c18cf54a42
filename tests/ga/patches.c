/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * patches: create arrays of every type and shape, put, get and accumulate patches that cross
 * owners, check every element. Must not depend on how the array is distributed.
 */
#include "gacheck.h"

enum { ROWS = 61, COLS = 47 };

/* Rank r puts the rows i with i % n == r in patches of 5 columns, all ranks read the whole array.
 */
static void put_get(void)
{
	int dims[2] = {ROWS, COLS}, me = GA_Nodeid(), n = GA_Nnodes(), a, i, j, lo[2], hi[2],
	    ld[1] = {COLS};
	static double line[COLS], all[ROWS][COLS];

	a = NGA_Create(C_DBL, 2, dims, (char *)"put", NULL);
	GA_Zero(a);
	for (i = me; i < ROWS; i += n)
		for (j = 0; j < COLS; j += 5) {
			int k, last = j + 4 < COLS ? j + 4 : COLS - 1;

			for (k = j; k <= last; k++)
				line[k - j] = check_value(i, k);
			lo[0] = hi[0] = i;
			lo[1] = j;
			hi[1] = last;
			NGA_Put(a, lo, hi, line, ld);
		}
	GA_Sync();
	lo[0] = lo[1] = 0;
	hi[0] = ROWS - 1;
	hi[1] = COLS - 1;
	NGA_Get(a, lo, hi, all, ld);
	for (i = 0; i < ROWS; i++)
		for (j = 0; j < COLS; j++)
			CHECK(all[i][j] == check_value(i, j), "(%d,%d) is %g", i, j, all[i][j]);
	GA_Destroy(a);
}

/* Every rank adds alpha * x to the same inner patch of an array of `type`; the sum is exact in all
 * of them. */
static void accumulate(int type, const char *name, void *x, void *alpha, void *got, int words)
{
	int dims[2] = {ROWS, COLS}, lo[2] = {3, 2}, hi[2] = {ROWS - 4, COLS - 3},
	    ld[1] = {COLS - 4};
	int a = NGA_Create(type, 2, dims, (char *)name, NULL), i, cells = (ROWS - 6) * (COLS - 4);
	double sum = GA_Nnodes() * (double)(GA_Nnodes() + 1) / 2;

	GA_Zero(a);
	NGA_Acc(a, lo, hi, x, ld, alpha);
	GA_Sync();
	NGA_Get(a, lo, hi, got, ld);
	for (i = 0; i < cells * words; i++) {
		double want = (i % words ? -1 : 1) * (i / words) * sum, is;

		switch (type) {
		case C_INT: is = ((int *)got)[i]; break;
		case C_LONG: is = (double)((long *)got)[i]; break;
		case C_FLOAT: is = ((float *)got)[i]; break;
		default: is = ((double *)got)[i]; break;
		}
		CHECK(is == want, "%s: word %d is %g, not %g", name, i, is, want);
	}
	lo[0] = hi[0] = 2;
	NGA_Get(a, lo, hi, got, ld);
	for (i = 0; i < COLS - 4; i++)
		CHECK(((char *)got)[i] == 0, "%s: row outside the patch was touched", name);
	GA_Destroy(a);
}

static void accumulate_types(void)
{
	int i, cells = (ROWS - 6) * (COLS - 4), scale = GA_Nodeid() + 1,
	       *xi = calloc(cells, 2 * sizeof *xi);
	long lscale = scale, *xl = calloc(cells, 2 * sizeof *xl);
	float fscale = (float)scale, *xf = calloc(cells, 2 * sizeof *xf);
	double dscale[2] = {scale, 0}, zscale[2] = {0, scale}, *xd = calloc(cells, 4 * sizeof *xd);
	double *got = calloc(cells, 2 * sizeof *got);

	for (i = 0; i < cells; i++) {
		xi[i] = i;
		xl[i] = i;
		xf[i] = (float)i;
		xd[i] = i;
	}
	accumulate(C_INT, "int", xi, &scale, got, 1);
	accumulate(C_LONG, "long", xl, &lscale, got, 1);
	accumulate(C_FLOAT, "float", xf, &fscale, got, 1);
	accumulate(C_DBL, "double", xd, dscale, got, 1);
	for (i = 0; i < cells; i++) { /* (-k - k j)(scale j) = k scale - k scale j */
		xd[2 * i] = -i;
		xd[2 * i + 1] = -i;
	}
	accumulate(C_DCPL, "double complex", xd, zscale, got, 2);
	free(xi);
	free(xl);
	free(xf);
	free(xd);
	free(got);
}

/* A 4-D array with uneven blocks: each rank marks the first row of the part it owns. */
static void irregular(void)
{
	int dims[4] = {6, 5, 4, 7}, block[4] = {2, 1, 1, 2}, map[6] = {0, 1, 0, 0, 0, 5}, lo[4],
	    hi[4], ld[3], i, at;
	int zero[4] = {0, 0, 0, 0}, top[4] = {5, 4, 3, 6}, *all, *mine, value = 7 + GA_Nodeid(),
	    unset = -1, a;

	if (GA_Nnodes() < 4) { /* fewer blocks than ranks is allowed, more is not: one block */
		block[0] = block[3] = 1;
		map[1] = map[2] = map[3] = 0;
	}
	a = NGA_Create_irreg(C_INT, 4, dims, (char *)"irregular", block, map);
	GA_Fill(a, &unset);
	NGA_Distribution(a, GA_Nodeid(), lo, hi);
	if (lo[0] >= 0 && hi[0] >= lo[0]) {
		NGA_Access(a, lo, hi, &mine, ld);
		for (i = 0; i <= hi[3] - lo[3]; i++)
			mine[i] = value;
		NGA_Release_update(a, lo, hi);
	}
	GA_Sync();
	all = malloc(sizeof *all * dims[0] * dims[1] * dims[2] * dims[3]);
	for (i = 0; i < 3; i++)
		ld[i] = dims[i + 1];
	NGA_Get(a, zero, top, all, ld);
	for (i = 0; i < GA_Nnodes(); i++) {
		NGA_Distribution(a, i, lo, hi);
		if (lo[0] < 0 || hi[0] < lo[0])
			continue;
		at = ((lo[0] * 5 + lo[1]) * 4 + lo[2]) * 7 + lo[3];
		CHECK(all[at] == 7 + i, "first element of rank %d is %d", i, all[at]);
		CHECK(all[at + 7] == -1, "second row of rank %d is %d", i, all[at + 7]);
	}
	free(all);
	GA_Destroy(a);
}

int main(int argc, char **argv)
{
	check_start(&argc, &argv);
	put_get();
	accumulate_types();
	irregular();
	return check_finish("patches");
}
