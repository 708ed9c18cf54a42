// SPDX-License-Identifier: BSD-3-Clause
// accumulate_contention.c - all ranks accumulate into the same elements at the same time, by
// contiguous, strided and vector calls mixed; every element must come out exact. One origin alone
// is in accumulate.c.
#include "check.h"
#include <complex.h>

enum { N = 4096, ROUNDS = 60 };

// Adds one to every element of rank 0's array by a shape that depends on the round.
static void add_all(int op, void *scale, char *ones, char *remote, int size, int round)
{
	if (round % 3 == 0) {
		CHECK_OK(ARMCI_Acc(op, scale, ones, remote, N * size, 0));
	} else if (round % 3 == 1) { // the odd elements, then the even ones
		int src = size, dst = 2 * size, count[2] = {size, N / 2};
		for (int odd = 1; odd >= 0; odd--)
			CHECK_OK(ARMCI_AccS(op, scale, ones, &src, remote + odd * size, &dst, count,
				1, 0));
	} else { // backwards in segments of 8 elements
		void *from[N / 8], *to[N / 8];
		for (int k = 0; k < N / 8; k++) {
			from[k] = ones;
			to[k] = remote + (N - 8 * (k + 1)) * size;
		}
		armci_giov_t d = {.src_ptr_array = from,
			.dst_ptr_array = to,
			.bytes = 8 * size,
			.ptr_array_len = N / 8};
		CHECK_OK(ARMCI_AccV(op, scale, &d, 1, 0));
	}
}

#define CONTEND(type, op) \
	static void contend_##op(void **base) \
	{ \
		type *ones = check_alloc(N * sizeof(type)), *sum = check_alloc(N * sizeof(type)), \
		     scale = 2; \
		for (int i = 0; i < N; i++) ones[i] = 1; \
		memset(base[me], 0, N * sizeof(type)); \
		ARMCI_Barrier(); \
		for (int round = 0; round < ROUNDS; round++) \
			add_all(op, &scale, (char *)ones, base[0], sizeof(type), round + me); \
		ARMCI_Barrier(); \
		CHECK_OK(ARMCI_Get(base[0], sum, N * sizeof(type), 0)); \
		for (int i = 0; i < N; i++) CHECK(sum[i] == (type)(2 * ROUNDS * np)); \
		ARMCI_Barrier(); \
		free(ones); \
		free(sum); \
	}

CONTEND(int, ARMCI_ACC_INT)
CONTEND(long, ARMCI_ACC_LNG)
CONTEND(float, ARMCI_ACC_FLT)
CONTEND(double, ARMCI_ACC_DBL)
CONTEND(float complex, ARMCI_ACC_CPL)
CONTEND(double complex, ARMCI_ACC_DCP)

// One single element, many small calls, every rank also on its own memory.
static void one_element(void **base)
{
	enum { CALLS = 3000 };
	double one = 1, scale = 1;
	memset(base[me], 0, 64);
	ARMCI_Barrier();
	for (int i = 0; i < CALLS; i++) {
		int peer = i % 2 ? 0 : (me + i) % np;
		CHECK_OK(ARMCI_Acc(ARMCI_ACC_DBL, &scale, &one, base[peer], sizeof one, peer));
	}
	ARMCI_Barrier();
	double sum = 0, total = 0;
	for (int r = 0; r < np; r++) {
		CHECK_OK(ARMCI_Get(base[r], &sum, sizeof sum, r));
		total += sum;
	}
	CHECK_DBL(total, (double)CALLS * np);
	ARMCI_Barrier();
}

// Elements that straddle a page of the locks: neighbours hit shifted ranges.
static void shifted(void **base)
{
	long *ones = check_alloc(N * sizeof(long)), scale = 1, *mine = base[me];
	for (int i = 0; i < N; i++)
		ones[i] = 1;
	memset(mine, 0, N * sizeof(long));
	ARMCI_Barrier();
	for (int i = 0; i < 200; i++) {
		int first = (i * 61 + me * 17) % (N / 2);
		CHECK_OK(ARMCI_Acc(ARMCI_ACC_LNG, &scale, ones, (long *)base[0] + first,
			(N / 2) * 8, 0));
	}
	ARMCI_Barrier();
	if (me == 0) {
		long sum = 0;
		for (int i = 0; i < N; i++)
			sum += mine[i];
		CHECK_INT(sum, 200L * np * (N / 2));
	}
	free(ones);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(N * sizeof(double complex));
	contend_ARMCI_ACC_INT(base);
	contend_ARMCI_ACC_LNG(base);
	contend_ARMCI_ACC_FLT(base);
	contend_ARMCI_ACC_DBL(base);
	contend_ARMCI_ACC_CPL(base);
	contend_ARMCI_ACC_DCP(base);
	one_element(base);
	shifted(base);
	ARMCI_Barrier();
	check_free(base);
	return check_end("accumulate_contention");
}
