/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lifetime: arrays come and go: many at once, sizes from one element to 64 MiB, some with ranks
 * that own nothing, destroyed in another order than created. Must find fresh arrays zeroed by
 * GA_Zero and old ones untouched.
 */
#include "gacheck.h"

enum { ARRAYS = 40, ROUNDS = 6 };

static int length(int k, int round)
{
	return 1 + (k * 977 + round * 131) % 9000;
}

static void many(int round)
{
	int a[ARRAYS], k, index, lo[1], hi[1], ld[1] = {1};
	double value, got;

	for (k = 0; k < ARRAYS; k++) {
		int n = length(k, round);

		a[k] = NGA_Create(C_DBL, 1, &n, (char *)"many", NULL);
		CHECK(a[k] != 0, "array %d not created", k);
		value = check_value(round, k);
		GA_Fill(a[k], &value);
	}
	for (k = ARRAYS - 1; k >= 0; k -= 2) {
		/* every second one goes, the others must keep their values */
		GA_Destroy(a[k]);
		a[k] = 0;
	}
	for (k = 0; k < ARRAYS; k++) {
		if (a[k] == 0)
			continue;
		index = (length(k, round) - 1) * (GA_Nodeid() + 1) / GA_Nnodes();
		lo[0] = hi[0] = index;
		NGA_Get(a[k], lo, hi, &got, ld);
		CHECK(got == check_value(round, k), "array %d element %d is %g", k, index, got);
	}
	GA_Sync();
	for (k = 0; k < ARRAYS; k++)
		if (a[k])
			GA_Destroy(a[k]);
}

/* 64 MiB in one array: ends and a column through all owners. */
static void large(void)
{
	int dims[2] = {2048, 4096}, a = NGA_Create(C_DBL, 2, dims, (char *)"large", NULL), lo[2],
	    hi[2], ld[1] = {1}, i;
	static double column[2048];

	CHECK(a != 0, "64 MiB array not created");
	GA_Zero(a);
	if (GA_Nodeid() == 0) {
		for (i = 0; i < 2048; i++)
			column[i] = check_value(i, 1);
		lo[0] = 0;
		hi[0] = 2047;
		lo[1] = hi[1] = 4095;
		NGA_Put(a, lo, hi, column, ld);
	}
	GA_Sync();
	for (i = GA_Nodeid(); i < 2048; i += 100) {
		double got[2];

		ld[0] = 2;
		lo[0] = hi[0] = i;
		lo[1] = 4094;
		hi[1] = 4095;
		NGA_Get(a, lo, hi, got, ld);
		CHECK(got[0] == 0 && got[1] == check_value(i, 1), "row %d ends %g %g", i, got[0],
			got[1]);
	}
	GA_Sync();
	GA_Destroy(a);
}

int main(int argc, char **argv)
{
	int round;

	check_start(&argc, &argv);
	for (round = 0; round < ROUNDS; round++)
		many(round);
	large();
	return check_finish("lifetime");
}
