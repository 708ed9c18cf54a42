/* SPDX-License-Identifier: BSD-3-Clause */
/* Global and static variables are symmetric, keep their values when the library begins and ends,
 * and pointers to them stay good. */
#include "check.h"

enum { LARGE = 1 << 20 };

static int initialised[3] = {1, 2, 3};
int zeroed[LARGE];
static int *pointer = &initialised[1];
const int constant = 8;
static double aligned __attribute__((aligned(4096))) = 2.5;

static long *in_function(void)
{
	static long counter = 40;
	return &counter;
}

int main(void)
{
	zeroed[LARGE - 1] = 77;
	(*in_function())++;
	begin();
	CHECK(initialised[2] == 3 && *pointer == 2 && zeroed[LARGE - 1] == 77 && zeroed[5] == 0);
	CHECK(*in_function() == 41 && aligned == 2.5 && constant == 8);
	shmem_barrier_all();
	shmem_int_p(pointer, 100 + me, right);
	shmem_int_p(&zeroed[LARGE / 2], 200 + me, right);
	shmem_double_p(&aligned, me, right);
	shmem_long_atomic_add(in_function(), me, right);
	shmem_barrier_all();
	CHECK(initialised[1] == 100 + left && *pointer == 100 + left);
	CHECK(zeroed[LARGE / 2] == 200 + left && aligned == left && *in_function() == 41 + left);
	int whole[3];
	shmem_int_get(whole, initialised, 3, right);
	CHECK(whole[0] == 1 && whole[1] == 100 + me && whole[2] == 3);
	for (int i = 0; i < LARGE; i++) zeroed[i] = i ^ me;
	shmem_barrier_all();
	static int copy[LARGE];
	shmem_int_get_nbi(copy, zeroed, LARGE, right);
	shmem_quiet();
	for (int i = 0; i < LARGE; i++) CHECK(copy[i] == (i ^ right));
	shmem_barrier_all();
	initialised[0] = 9;
	shmem_finalize();
	if (initialised[0] != 9 || zeroed[3] != (3 ^ me) || *pointer != 100 + left)
		return 1;
	zeroed[3]++;
	if (me == 0)
		printf("ok variables\n");
	return 0;
}
