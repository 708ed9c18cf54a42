/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gop: reductions of every type and operator and broadcasts of many sizes, over all ranks. Sizes
 * run past any buffer the library may keep; values are chosen so that floating-point sums are exact
 * in any order.
 */
#include "gacheck.h"

static const int sizes[] = {1, 2, 7, 64, 1000, 40000};
enum { SIZES = sizeof sizes / sizeof *sizes, LARGEST = 40000 };

/* What rank r contributes at index i, and what each operator makes of all ranks'. */
static long part(int r, int i)
{
	return (r + 1) * ((i % 17) - 8);
}

static long expected(const char *op, int i)
{
	int n = GA_Nnodes(), r;
	long value = part(0, i);

	if (op[0] == 'a' && value < 0)
		value = -value;
	for (r = 1; r < n; r++) {
		long x = part(r, i);

		if (op[0] == 'a' && x < 0)
			x = -x;
		if (op[0] == '+')
			value += x;
		else if (op[0] == '*')
			value *= x;
		else if (op[3 * (op[0] == 'a') + 1] == 'a') /* max, absmax */
			value = x > value ? x : value;
		else
			value = x < value ? x : value;
	}
	return value;
}

#define REDUCE(type, call, name) \
	static void reduce_##name(type *x, const char *op, int n) \
	{ \
		int i; \
		for (i = 0; i < n; i++) x[i] = (type)part(GA_Nodeid(), i); \
		call(x, n, (char *)op); \
		for (i = 0; i < n; i++) \
			CHECK(x[i] == (type)expected(op, i), #name " %s: element %d of %d is %g", \
				op, i, n, (double)x[i]); \
	}
REDUCE(int, GA_Igop, int)
REDUCE(long, GA_Lgop, long)
REDUCE(long long, GA_Llgop, llong)
REDUCE(float, GA_Fgop, float)
REDUCE(double, GA_Dgop, double)

static void complex_sums(DoubleComplex *z, SingleComplex *c)
{
	int i, n = GA_Nnodes();
	double ranks = n * (n - 1) / 2;

	for (i = 0; i < 500; i++) {
		z[i].real = GA_Nodeid();
		z[i].imag = -i;
		c[i].real = (float)i;
		c[i].imag = (float)GA_Nodeid();
	}
	GA_Zgop(z, 500, (char *)"+");
	GA_Cgop(c, 500, (char *)"+");
	for (i = 0; i < 500; i++) {
		CHECK(z[i].real == ranks && z[i].imag == -(double)i * n, "double complex %d", i);
		CHECK(c[i].real == (float)i * n && c[i].imag == (float)ranks, "single complex %d",
			i);
	}
}

static void broadcasts(char *buffer)
{
	int s, root, i;

	for (s = 0; s < SIZES; s++)
		for (root = 0; root < GA_Nnodes(); root++) {
			for (i = 0; i < sizes[s]; i++)
				buffer[i] = (char)(GA_Nodeid() == root ? i * 7 + root : -1);
			GA_Brdcst(buffer, sizes[s], root);
			for (i = 0; i < sizes[s]; i++)
				CHECK(buffer[i] == (char)(i * 7 + root), "byte %d of %d from %d", i,
					sizes[s], root);
		}
}

int main(int argc, char **argv)
{
	static const char *const ops[] = {"+", "*", "max", "min", "absmax", "absmin"};
	void *x;
	int o, s;

	check_start(&argc, &argv);
	x = malloc(LARGEST * sizeof(DoubleComplex));
	for (o = 0; o < 6; o++)
		for (s = 0; s < SIZES; s++) {
			reduce_int(x, ops[o], sizes[s]);
			reduce_long(x, ops[o], sizes[s]);
			reduce_llong(x, ops[o], sizes[s]);
			reduce_float(x, ops[o], sizes[s]);
			reduce_double(x, ops[o], sizes[s]);
		}
	complex_sums(x, (SingleComplex *)((DoubleComplex *)x + 500));
	broadcasts(x);
	free(x);
	return check_finish("gop");
}
