/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided: patches with a step, periodic patches that wrap round the array's ends, block-cyclic
 * arrays and patch copies between different distributions. The steps do not divide the array's
 * sizes.
 */
#include "gacheck.h"

enum { NX = 41, NY = 35 };

static double all[NX][NY];

static void whole(int a)
{
	int lo[2] = {0, 0}, hi[2] = {NX - 1, NY - 1}, ld[1] = {NY};

	NGA_Get(a, lo, hi, all, ld);
}

static void stepped(void)
{
	int dims[2] = {NX, NY}, lo[2] = {1, 2}, hi[2] = {NX - 2, NY - 1}, skip[2] = {3, 4}, ld[1],
	    i, j, rows, cols;
	int a = NGA_Create(C_DBL, 2, dims, (char *)"step", NULL);
	double *x, alpha = 2;

	rows = (hi[0] - lo[0]) / skip[0] + 1;
	cols = (hi[1] - lo[1]) / skip[1] + 1;
	ld[0] = cols;
	x = malloc(sizeof *x * rows * cols);
	for (i = 0; i < rows * cols; i++)
		x[i] = i + 1;
	GA_Zero(a);
	if (GA_Nodeid() == GA_Nnodes() - 1)
		NGA_Strided_put(a, lo, hi, skip, x, ld);
	GA_Sync();
	NGA_Strided_acc(a, lo, hi, skip, x, ld, &alpha);
	GA_Sync();
	whole(a);
	for (i = 0; i < NX; i++)
		for (j = 0; j < NY; j++) {
			double want = 0;

			if (i >= lo[0] && i <= hi[0] && j >= lo[1] && (i - lo[0]) % skip[0] == 0 &&
				(j - lo[1]) % skip[1] == 0)
				want = ((i - lo[0]) / skip[0] * cols + (j - lo[1]) / skip[1] + 1) *
					(1 + 2 * GA_Nnodes());
			CHECK(all[i][j] == want, "step: (%d,%d) is %g, not %g", i, j, all[i][j],
				want);
		}
	for (i = 0; i < rows * cols; i++)
		x[i] = -1;
	NGA_Strided_get(a, lo, hi, skip, x, ld);
	for (i = 0; i < rows * cols; i++)
		CHECK(x[i] == (i + 1.0) * (1 + 2 * GA_Nnodes()), "strided get %d is %g", i, x[i]);
	GA_Sync();
	free(x);
	GA_Destroy(a);
}

static void periodic(void)
{
	int dims[2] = {NX, NY}, lo[2] = {-3, 30}, hi[2] = {4, 40}, ld[1] = {11}, i, j;
	int a = NGA_Create(C_DBL, 2, dims, (char *)"ring", NULL);
	double x[8][11], one = 1;

	for (i = 0; i < 88; i++)
		x[i / 11][i % 11] = i + 1;
	GA_Zero(a);
	if (GA_Nodeid() == 0)
		NGA_Periodic_put(a, lo, hi, x, ld);
	GA_Sync();
	NGA_Periodic_acc(a, lo, hi, x, ld, &one);
	GA_Sync();
	whole(a);
	for (i = 0; i < 8; i++)
		for (j = 0; j < 11; j++) {
			double is = all[(i - 3 + NX) % NX][(j + 30) % NY];

			CHECK(is == (i * 11 + j + 1) * (1.0 + GA_Nnodes()), "wrapped (%d,%d) is %g",
				i, j, is);
		}
	GA_Sync();
	GA_Destroy(a);
}

/* Values go from a plain array into a block-cyclic one, and a patch of them back to another place.
 */
static void copies(void)
{
	int dims[2] = {NX, NX}, block[2] = {5, 3}, lo[2] = {2, 4}, hi[2] = {30, 33}, i, j,
	    ld[1] = {NX}, top[2] = {NX - 1, NX - 1};
	int to[2] = {8, 1}, end[2] = {36, 30}, zero[2] = {0, 0}, plain, cyclic = GA_Create_handle();
	static double x[NX][NX];

	plain = NGA_Create(C_DBL, 2, dims, (char *)"plain", NULL);
	GA_Set_data(cyclic, 2, dims, C_DBL);
	GA_Set_block_cyclic(cyclic, block);
	CHECK(GA_Allocate(cyclic), "block-cyclic array not allocated");
	for (i = 0; i < NX * NX; i++)
		x[i / NX][i % NX] = check_value(i / NX, i % NX);
	if (GA_Nodeid() == 0)
		NGA_Put(plain, zero, top, x, ld);
	GA_Sync();
	GA_Copy(plain, cyclic);
	GA_Zero(plain);
	NGA_Copy_patch('n', cyclic, lo, hi, plain, to, end);
	NGA_Get(plain, zero, top, x, ld);
	for (i = 0; i < NX; i++)
		for (j = 0; j < NX; j++) {
			int inside = i >= to[0] && i <= end[0] && j >= to[1] && j <= end[1];

			CHECK(x[i][j] == (inside ? check_value(i - 6, j + 3) : 0),
				"copy at (%d,%d) is %g", i, j, x[i][j]);
		}
	GA_Sync();
	GA_Destroy(cyclic);
	GA_Destroy(plain);
}

int main(int argc, char **argv)
{
	check_start(&argc, &argv);
	stepped();
	periodic();
	copies();
	return check_finish("strided");
}
