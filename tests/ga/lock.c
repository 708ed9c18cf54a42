/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock: GA_Lock and GA_Unlock around read-modify-write by get and put, which loses updates at once
 * if the lock does not exclude or does not order memory. Must not use any atomic operation inside
 * the critical section.
 */
#include "gacheck.h"

enum { MUTEXES = 5, ROUNDS = 300, WIDTH = 40 };

static void increments(int a)
{
	int round, lo[2], hi[2], ld[1] = {WIDTH}, i;
	long row[WIDTH];

	for (round = 0; round < ROUNDS; round++) {
		int mutex = (round + GA_Nodeid()) % MUTEXES;

		lo[0] = hi[0] = mutex;
		lo[1] = 0;
		hi[1] = WIDTH - 1;
		GA_Lock(mutex);
		NGA_Get(a, lo, hi, row, ld);
		for (i = 1; i < WIDTH; i++)
			CHECK(row[i] == row[0], "row %d is torn: %ld and %ld", mutex, row[0],
				row[i]);
		for (i = 0; i < WIDTH; i++)
			row[i]++;
		GA_Init_fence();
		NGA_Put(a, lo, hi, row, ld);
		GA_Fence();
		GA_Unlock(mutex);
	}
}

int main(int argc, char **argv)
{
	int dims[2] = {MUTEXES, WIDTH}, lo[2] = {0, 0}, hi[2] = {MUTEXES - 1, WIDTH - 1},
	    ld[1] = {WIDTH}, a, i, pass;
	long all[MUTEXES][WIDTH], sum;

	check_start(&argc, &argv);
	for (pass = 0; pass < 2; pass++) { /* twice: mutexes can be destroyed and created again */
		a = NGA_Create(C_LONG, 2, dims, (char *)"guarded", NULL);
		GA_Zero(a);
		CHECK(GA_Create_mutexes(MUTEXES), "no mutexes");
		GA_Sync();
		increments(a);
		GA_Sync();
		NGA_Get(a, lo, hi, all, ld);
		for (sum = i = 0; i < MUTEXES; i++)
			sum += all[i][0];
		CHECK(sum == (long)ROUNDS * GA_Nnodes(), "%ld increments survived of %d", sum,
			ROUNDS * GA_Nnodes());
		GA_Sync();
		CHECK(GA_Destroy_mutexes(), "mutexes not destroyed");
		GA_Destroy(a);
	}
	return check_finish("lock");
}
