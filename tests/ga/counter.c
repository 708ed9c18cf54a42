/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter: NGA_Read_inc as a shared task counter. Every ticket must be given out exactly once, on
 * int and on long elements, alone and with several counters at once. Must not assume any order
 * between ranks.
 */
#include "gacheck.h"

enum { TICKETS = 2000, COUNTERS = 3 };

/* Ranks draw tickets until none is left and mark each in `seen`, an array of its own. */
static void tickets(int type)
{
	int one = COUNTERS, tickets = TICKETS, index, i, lo[1], hi[1], ld[1] = {1};
	int counter = NGA_Create(type, 1, &one, (char *)"counter", NULL);
	int seen = NGA_Create(C_INT, 1, &tickets, (char *)"seen", NULL), mark = 1, alpha = 1, *all;
	long drawn = 0, sum;

	GA_Zero(counter);
	GA_Zero(seen);
	index = 1;
	for (;;) {
		long ticket = NGA_Read_inc(counter, &index, 1);

		if (ticket >= TICKETS)
			break;
		lo[0] = hi[0] = (int)ticket;
		NGA_Acc(seen, lo, hi, &mark, ld, &alpha);
		drawn++;
	}
	sum = drawn;
	GA_Lgop(&sum, 1, (char *)"+");
	CHECK(sum == TICKETS, "%ld tickets drawn in all", sum);
	GA_Sync();
	all = malloc(TICKETS * sizeof *all);
	lo[0] = 0;
	hi[0] = TICKETS - 1;
	NGA_Get(seen, lo, hi, all, ld);
	for (i = 0; i < TICKETS; i++)
		CHECK(all[i] == 1, "ticket %d given out %d times", i, all[i]);
	free(all);
	GA_Destroy(seen);
	GA_Destroy(counter);
}

/* Steps other than one, and neighbours that must stay untouched. */
static void steps(void)
{
	int n = COUNTERS, index = 2, lo[1] = {0}, hi[1] = {COUNTERS - 1}, ld[1] = {1}, i;
	int a = NGA_Create(C_LONG, 1, &n, (char *)"steps", NULL);
	long value[COUNTERS], want = 0;

	GA_Zero(a);
	for (i = 0; i < 100; i++)
		NGA_Read_inc(a, &index, GA_Nodeid() + 1);
	GA_Sync();
	NGA_Get(a, lo, hi, value, ld);
	for (i = 1; i <= GA_Nnodes(); i++)
		want += 100L * i;
	CHECK(value[2] == want, "counter is %ld, not %ld", value[2], want);
	CHECK(value[0] == 0 && value[1] == 0, "neighbours became %ld and %ld", value[0], value[1]);
	GA_Destroy(a);
}

int main(int argc, char **argv)
{
	check_start(&argc, &argv);
	tickets(C_INT);
	tickets(C_LONG);
	steps();
	return check_finish("counter");
}
