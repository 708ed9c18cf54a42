// SPDX-License-Identifier: BSD-3-Clause
// gop.c - reductions over all ranks: every operator, type and scope, one element to 300000, against
// values computed from what every rank is known to contribute. Group forms are in group_use.c.
#include "check.h"

enum { MOST = 300000 };

static const struct type {
	const char *name;
	int classic, mpi, size, whole; // whole: an integer type
} types[] = {
	{"int", -99, 0, sizeof(int), 1}, {"long", -101, 1, sizeof(long), 1},
	{"long long", -102, 2, sizeof(long long), 1}, {"float", -306, 3, sizeof(float), 0},
	{"double", -307, 4, sizeof(double), 0},
};

static const char *const ops[] = {"+", "*", "max", "min", "absmax", "absmin", "or", "|", "bor", "&",
	"band", "&&", "land", "||", "lor"};
enum { ANY_TYPE = 6, ALL_OPS = 15 };

// What rank r contributes at place i: small, of both signs, sometimes zero.
static long long value(int r, int i)
{
	return (i * 7 + r * 11 + i / 3) % 7 - 3 - (r == i % 5);
}

static void store(int type, void *p, int i, long long v)
{
	switch (type) {
	case 0: ((int *)p)[i] = (int)v; break;
	case 1: ((long *)p)[i] = (long)v; break;
	case 2: ((long long *)p)[i] = v; break;
	case 3: ((float *)p)[i] = (float)v; break;
	default: ((double *)p)[i] = (double)v; break;
	}
}

static double load(int type, const void *p, int i)
{
	switch (type) {
	case 0: return ((const int *)p)[i];
	case 1: return (double)((const long *)p)[i];
	case 2: return (double)((const long long *)p)[i];
	case 3: return ((const float *)p)[i];
	default: return ((const double *)p)[i];
	}
}

static long long apply(int op, long long a, long long b)
{
	switch (op) {
	case 0: return a + b;
	case 1: return a * b;
	case 2: return a > b ? a : b;
	case 3: return a < b ? a : b;
	case 4: return llabs(a) > llabs(b) ? llabs(a) : llabs(b);
	case 5: return llabs(a) < llabs(b) ? llabs(a) : llabs(b);
	case 6: case 7: case 8: return a | b;
	case 9: case 10: return a & b;
	case 11: case 12: return a && b;
	default: return a || b;
	}
}

// The result over count ranks; alone, absolute values and truth values are still formed.
static long long expected(int op, const int *ranks, int count, int i)
{
	long long x = value(ranks[0], i);
	if (op == 4 || op == 5)
		x = llabs(x);
	if (op >= 11)
		x = x != 0;
	for (int k = 1; k < count; k++)
		x = apply(op, x, value(ranks[k], i));
	return x;
}

static void *buffer;

static void fill(int t, int n)
{
	for (int i = 0; i < n; i++)
		store(t, buffer, i, value(me, i));
	memset((char *)buffer + n * types[t].size, 0x5a, 8);
}

static void compare(int t, int op, int n, const int *ranks, int count)
{
	for (int i = 0; i < n; i++) {
		double want = (double)expected(op, ranks, count, i), got = load(t, buffer, i);
		if (got != want)
			check_fail(__FILE__, __LINE__,
				"\"%s\" of %s, element %d of %d: %g, expected %g", ops[op],
				types[t].name, i, n, got, want);
	}
	for (int k = 0; k < 8; k++)
		CHECK_INT(((unsigned char *)buffer)[n * types[t].size + k], 0x5a);
}

static void scope(int which, int classic, int mpi)
{
	int ranks[64], count = 0, member = 1, *master = check_masters();
	CHECK(np <= 64);
	for (int r = 0; r < np; r++) {
		if (which == 2 && r == me)
			member = master[r] == r;
		if (which == 0 || (which == 1 && master[r] == master[me]) ||
			(which == 2 && master[r] == r))
			ranks[count++] = r;
	}
	free(master);
	if (!member)
		return;
	for (int t = 0; t < 5; t++)
		for (int op = 0; op < (types[t].whole ? ALL_OPS : ANY_TYPE); op++)
			for (int n = 1; n <= 400; n = n * 5 + 2) {
				fill(t, n);
				int mixed = (op + n) % 2;
				armci_msg_gop_scope(mixed ? classic : mpi, buffer, n,
					(char *)ops[op], mixed ? types[t].mpi : types[t].classic);
				compare(t, op, n, ranks, count);
			}
}

static void call(int t, int n, char *op)
{
	switch (t) {
	case 0: armci_msg_igop(buffer, n, op); break;
	case 1: armci_msg_lgop(buffer, n, op); break;
	case 2: armci_msg_llgop(buffer, n, op); break;
	case 3: armci_msg_fgop(buffer, n, op); break;
	default: armci_msg_dgop(buffer, n, op); break;
	}
}

static void lengths(void)
{
	static const int n[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 511, 1000, 1025, 4097, 65536,
		100003, MOST};
	int ranks[64];
	for (int r = 0; r < np; r++)
		ranks[r] = r;
	for (int t = 0; t < 5; t++)
		for (size_t k = 0; k < sizeof n / sizeof n[0]; k++) {
			int op = (int)(k + (size_t)t) % ANY_TYPE;
			fill(t, n[k]);
			call(t, n[k], (char *)ops[op]);
			compare(t, op, n[k], ranks, np);
		}
}

// Only rank 0's result counts.
static void reduce(void)
{
	int ranks[64];
	for (int r = 0; r < np; r++)
		ranks[r] = r;
	for (int t = 0; t < 5; t++)
		for (int n = 1; n <= 20000; n = n * 20 + 1) {
			fill(t, n);
			if (n % 2)
				armci_msg_reduce(buffer, n, "+", types[t].classic);
			else
				armci_msg_reduce_scope(SCOPE_ALL, buffer, n, "+", types[t].classic);
			if (me == 0)
				compare(t, 0, n, ranks, np);
		}
}

// Nothing separates them.
static void rapid(void)
{
	for (int i = 0; i < check_rounds(3000); i++) {
		long x[3] = {i + me, me, -i};
		armci_msg_lgop(x, 3, "max");
		CHECK_INT(x[0], i + np - 1);
		CHECK_INT(x[1], np - 1);
		CHECK_INT(x[2], -i);
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	buffer = check_alloc(MOST * sizeof(double) + 64);
	scope(0, SCOPE_ALL, 0);
	scope(1, SCOPE_NODE, 1);
	scope(2, SCOPE_MASTERS, 2);
	armci_msg_barrier();
	lengths();
	reduce();
	rapid();
	return check_end("gop");
}
