/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking: many puts, gets and accumulates under way at once, waited for in another order than
 * issued, by wait and by test. Must not look at a local buffer between issue and wait.
 */
#include "gacheck.h"

enum { ROWS = 64, COLS = 50, IN_FLIGHT = 16 };

static ga_nbhdl_t handle[ROWS];
static double buffer[ROWS][COLS];
static int ld[1] = {COLS};

static void row(int i, int lo[2], int hi[2])
{
	lo[0] = hi[0] = i;
	lo[1] = 0;
	hi[1] = COLS - 1;
}

/* Each rank puts its share of the rows, IN_FLIGHT at a time, and waits from the last to the first.
 */
static void puts_and_gets(int a)
{
	int me = GA_Nodeid(), n = GA_Nnodes(), lo[2], hi[2], i, j, first;

	for (first = 0; first < ROWS; first += IN_FLIGHT) {
		for (i = first; i < first + IN_FLIGHT; i++) {
			if (i % n != me)
				continue;
			for (j = 0; j < COLS; j++)
				buffer[i][j] = check_value(i, j);
			row(i, lo, hi);
			NGA_NbPut(a, lo, hi, buffer[i], ld, &handle[i]);
		}
		for (i = first + IN_FLIGHT - 1; i >= first; i--)
			if (i % n == me)
				NGA_NbWait(&handle[i]);
	}
	GA_Sync();
	for (i = 0; i < ROWS; i++) {
		row(ROWS - 1 - i, lo, hi);
		for (j = 0; j < COLS; j++)
			buffer[i][j] = -1;
		NGA_NbGet(a, lo, hi, buffer[i], ld, &handle[i]);
		if (i >= IN_FLIGHT) {
			NGA_NbWait(&handle[i - IN_FLIGHT]);
			for (j = 0; j < COLS; j++)
				CHECK(buffer[i - IN_FLIGHT][j] ==
						check_value(ROWS - 1 - i + IN_FLIGHT, j),
					"get of row %d", i);
		}
	}
	for (i = ROWS - IN_FLIGHT; i < ROWS; i++) {
		long polls = 0;

		while (!NGA_NbTest(&handle[i]) && polls < 100000000)
			polls++;
		CHECK(polls < 100000000, "get of row %d never completes", i);
		for (j = 0; j < COLS; j++)
			CHECK(buffer[i][j] == check_value(ROWS - 1 - i, j), "tested get of row %d",
				i);
	}
}

/* All ranks accumulate into all rows at once. */
static void accumulates(int a)
{
	int lo[2], hi[2], i, j;
	double alpha = GA_Nodeid() + 1, sum = GA_Nnodes() * (GA_Nnodes() + 1) / 2;
	static double one[COLS];

	GA_Zero(a);
	for (j = 0; j < COLS; j++)
		one[j] = j;
	for (i = 0; i < ROWS; i++) {
		row((i + GA_Nodeid() * 5) % ROWS, lo, hi);
		NGA_NbAcc(a, lo, hi, one, ld, &alpha, &handle[i]);
		if (i >= IN_FLIGHT)
			NGA_NbWait(&handle[i - IN_FLIGHT]);
	}
	for (i = ROWS - IN_FLIGHT; i < ROWS; i++)
		NGA_NbWait(&handle[i]);
	GA_Sync();
	lo[0] = lo[1] = 0;
	hi[0] = ROWS - 1;
	NGA_Get(a, lo, hi, buffer, ld);
	for (i = 0; i < ROWS; i++)
		for (j = 0; j < COLS; j++)
			CHECK(buffer[i][j] == sum * j, "(%d,%d) is %g", i, j, buffer[i][j]);
	GA_Sync();
}

int main(int argc, char **argv)
{
	int dims[2] = {ROWS, COLS}, a;

	check_start(&argc, &argv);
	a = NGA_Create(C_DBL, 2, dims, (char *)"nb", NULL);
	GA_Zero(a);
	puts_and_gets(a);
	GA_Sync();
	accumulates(a);
	GA_Destroy(a);
	return check_finish("nonblocking");
}
