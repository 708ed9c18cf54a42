/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dgemm: distributed matrix products in the four transpositions, and dot, add, transpose and
 * symmetrise, against sums made element by element. Values are small integers, so that every
 * comparison is exact.
 */
#include "gacheck.h"

enum { M = 37, N = 29, K = 43 };

static double a_value(int i, int k)
{
	return (3 * i + 5 * k) % 11 - 5;
}

static double b_value(int k, int j)
{
	return (7 * k + 2 * j) % 13 - 6;
}

/* A rows x cols array holding value(i, j), or value(j, i) when transposed. */
static int matrix(int rows, int cols, double (*value)(int, int), int transposed)
{
	int dims[2] = {rows, cols}, lo[2], hi[2], ld[1],
	    a = NGA_Create(C_DBL, 2, dims, (char *)"m", NULL), i, j;
	double *mine;

	NGA_Distribution(a, GA_Nodeid(), lo, hi);
	if (hi[0] >= lo[0] && lo[0] >= 0) {
		NGA_Access(a, lo, hi, &mine, ld);
		for (i = lo[0]; i <= hi[0]; i++)
			for (j = lo[1]; j <= hi[1]; j++)
				mine[(i - lo[0]) * ld[0] + j - lo[1]] = transposed ? value(j, i) :
										     value(i, j);
		NGA_Release_update(a, lo, hi);
	}
	GA_Sync();
	return a;
}

static void product(char ta, char tb)
{
	int a = ta == 't' ? matrix(K, M, a_value, 1) : matrix(M, K, a_value, 0), i, j, k;
	int b = tb == 't' ? matrix(N, K, b_value, 1) : matrix(K, N, b_value, 0),
	    c = matrix(M, N, a_value, 0);
	int lo[2] = {0, 0}, hi[2] = {M - 1, N - 1}, ld[1] = {N};
	static double got[M][N];

	GA_Dgemm(ta, tb, M, N, K, 2.0, a, b, -1.0, c);
	NGA_Get(c, lo, hi, got, ld);
	for (i = 0; i < M; i++)
		for (j = 0; j < N; j++) {
			double want = -a_value(i, j);

			for (k = 0; k < K; k++)
				want += 2 * a_value(i, k) * b_value(k, j);
			CHECK(got[i][j] == want, "%c%c: (%d,%d) is %g, not %g", ta, tb, i, j,
				got[i][j], want);
		}
	GA_Sync();
	GA_Destroy(a);
	GA_Destroy(b);
	GA_Destroy(c);
}

static void whole_arrays(void)
{
	int a = matrix(M, M, a_value, 0), b = matrix(M, M, b_value, 0),
	    c = matrix(M, M, b_value, 0), i, j;
	int lo[2] = {0, 0}, hi[2] = {M - 1, M - 1}, ld[1] = {M};
	static double got[M][M];
	double dot = 0, two = 2, three = 3;

	for (i = 0; i < M * M; i++)
		dot += a_value(i / M, i % M) * b_value(i / M, i % M);
	CHECK(GA_Ddot(a, b) == dot, "dot product %g, not %g", GA_Ddot(a, b), dot);
	GA_Add(&two, a, &three, b, c);
	NGA_Get(c, lo, hi, got, ld);
	for (i = 0; i < M; i++)
		for (j = 0; j < M; j++)
			CHECK(got[i][j] == 2 * a_value(i, j) + 3 * b_value(i, j), "sum at (%d,%d)",
				i, j);
	GA_Sync();
	GA_Transpose(a, c);
	NGA_Get(c, lo, hi, got, ld);
	for (i = 0; i < M; i++)
		for (j = 0; j < M; j++)
			CHECK(got[i][j] == a_value(j, i), "transpose at (%d,%d)", i, j);
	GA_Sync();
	GA_Symmetrize(b);
	NGA_Get(b, lo, hi, got, ld);
	for (i = 0; i < M; i++)
		for (j = 0; j < M; j++)
			CHECK(got[i][j] == (b_value(i, j) + b_value(j, i)) / 2,
				"symmetric part at (%d,%d)", i, j);
	GA_Sync();
	GA_Destroy(a);
	GA_Destroy(b);
	GA_Destroy(c);
}

int main(int argc, char **argv)
{
	check_start(&argc, &argv);
	product('n', 'n');
	product('t', 'n');
	product('n', 't');
	product('t', 't');
	whole_arrays();
	return check_finish("dgemm");
}
