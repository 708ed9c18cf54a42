// SPDX-License-Identifier: BSD-3-Clause
// matmul.c - a small real program: C = A x B with all three matrices spread over the ranks. Blocks
// come by strided gets, results go by strided accumulates, a shared counter hands out the work; the
// result is checked exactly.
//
//   matmul [blocks per side, 12]
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 64 }; // rows and columns of a block

static int me, nproc, blocks, n;

struct matrix {
	void **part; // block row i belongs to rank i % nproc, whole rows of n numbers
};

static struct matrix create(void)
{
	struct matrix m = {malloc((size_t)nproc * sizeof(void *))};
	int rows = (blocks + nproc - 1) / nproc * B; // as many for every rank
	if (!m.part || ARMCI_Malloc(m.part, (armci_size_t)rows * n * (armci_size_t)sizeof(double)))
		ARMCI_Error("no memory for a matrix", 1);
	return m;
}

static int owner(int i)
{
	return i % nproc;
}

// Where block (i, j) begins.
static double *block(struct matrix m, int i, int j)
{
	return (double *)m.part[owner(i)] + (size_t)(i / nproc * B) * (size_t)n + (size_t)(j * B);
}

static void fetch(struct matrix m, int i, int j, double *to)
{
	int there = n * (int)sizeof(double), here = B * sizeof(double),
	    count[2] = {B * sizeof(double), B};
	ARMCI_GetS(block(m, i, j), &there, to, &here, count, 1, owner(i));
}

static void add(struct matrix m, int i, int j, double *from)
{
	int there = n * (int)sizeof(double), here = B * sizeof(double),
	    count[2] = {B * sizeof(double), B};
	double one = 1;
	ARMCI_AccS(ARMCI_ACC_DBL, &one, from, &here, block(m, i, j), &there, count, 1, owner(i));
}

static double a_value(int i, int k) { return (i + 2 * k) % 7 - 3; }
static double b_value(int k, int j) { return (3 * k + j) % 5 - 2; }

// Every rank writes the rows it owns.
static void fill(struct matrix a, struct matrix b, struct matrix c)
{
	for (int i = me; i < blocks; i += nproc)
		for (int row = 0; row < B; row++)
			for (int j = 0; j < n; j++) {
				size_t at = (size_t)row * (size_t)n + (size_t)j;
				block(a, i, 0)[at] = a_value(i * B + row, j);
				block(b, i, 0)[at] = b_value(i * B + row, j);
				block(c, i, 0)[at] = 0;
			}
}

static void multiply(const double *restrict x, const double *restrict y, double *restrict z)
{
	for (int i = 0; i < B; i++)
		for (int k = 0; k < B; k++)
			for (int j = 0; j < B; j++)
				z[i * B + j] += x[i * B + k] * y[k * B + j];
}

// Takes tasks (i, j, k) until there are none; returns how many were mine.
static long work(struct matrix a, struct matrix b, struct matrix c, void *counter)
{
	static double x[B * B], y[B * B];
	long task, done = 0, all = (long)blocks * blocks * blocks;
	for (;; done++) {
		ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &task, counter, 1, 0);
		if (task >= all)
			return done;
		int i = (int)(task % blocks), j = (int)(task / blocks % blocks),
		    k = (int)(task / blocks / blocks);
		double z[B * B] = {0};
		fetch(a, i, k, x);
		fetch(b, k, j, y);
		multiply(x, y, z);
		add(c, i, j, z);
	}
}

// C v = A (B v) for v = (1, 2, 3, ...) mod 4: whole numbers, so exact. Returns the wrong rows among
// mine.
static int check(struct matrix c)
{
	int wrong = 0;
	double *bv = calloc((size_t)n, sizeof(double));
	for (int k = 0; k < n; k++)
		for (int j = 0; j < n; j++)
			bv[k] += b_value(k, j) * (j % 4);
	for (int i = me; i < blocks; i += nproc)
		for (int row = 0; row < B; row++) {
			double got = 0, want = 0;
			for (int j = 0; j < n; j++) {
				got += block(c, i, 0)[(size_t)row * (size_t)n + (size_t)j] *
					(j % 4);
				want += a_value(i * B + row, j) * bv[j];
			}
			wrong += got != want;
		}
	free(bv);
	return wrong;
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	me = armci_msg_me();
	nproc = armci_msg_nproc();
	blocks = argc > 1 ? atoi(argv[1]) : 12;
	if (blocks < 1 || blocks > 400)
		ARMCI_Error("usage: matmul [blocks per side, 1 to 400]", 1);
	n = blocks * B;

	struct matrix a = create(), b = create(), c = create();
	void **counter = malloc((size_t)nproc * sizeof *counter);
	if (!counter || ARMCI_Malloc(counter, sizeof(long)))
		ARMCI_Error("no memory for the counter", 1);
	*(long *)counter[me] = 0;
	fill(a, b, c);
	ARMCI_Barrier();

	double began = armci_timer();
	long done = work(a, b, c, counter[0]);
	ARMCI_Barrier();
	double seconds = armci_timer() - began;

	int wrong = check(c);
	armci_msg_igop(&wrong, 1, "+");
	printf("rank %d did %ld of %ld block products\n", me, done, (long)blocks * blocks * blocks);
	fflush(stdout);
	armci_msg_barrier();
	if (me == 0)
		printf("%d x %d times %d x %d on %d ranks: %.3f s, %.2f Gflop/s, %s\n", n, n, n, n,
			nproc, seconds, 2e-9 * n * n * n / seconds,
			wrong ? "WRONG" : "result checked, exact");

	ARMCI_Barrier();
	ARMCI_Free(counter[me]);
	ARMCI_Free(c.part[me]);
	ARMCI_Free(b.part[me]);
	ARMCI_Free(a.part[me]);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong != 0;
}
