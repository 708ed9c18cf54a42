/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations of every type: values, and sums of all PEs at once. */
#include "check.h"

static shmem_ctx_t ctx;

/* One PE at a time changes its right neighbour's word. */
#define EXTENDED(NAME, TYPE) \
	static TYPE NAME##_word; \
	static void extended_##NAME(void) \
	{ \
		TYPE got = 0; \
		NAME##_word = 5; \
		shmem_barrier_all(); \
		CHECK(shmem_##NAME##_atomic_fetch(&NAME##_word, right) == 5); \
		shmem_##NAME##_atomic_set(&NAME##_word, 6, right); \
		CHECK(shmem_ctx_##NAME##_atomic_swap(ctx, &NAME##_word, 7, right) == 6); \
		shmem_##NAME##_atomic_fetch_nbi(&got, &NAME##_word, right); \
		shmem_quiet(); \
		CHECK(got == 7); \
		shmem_##NAME##_atomic_swap_nbi(&got, &NAME##_word, 8, right); \
		shmem_quiet(); \
		CHECK(got == 7); \
		shmem_barrier_all(); \
		CHECK(NAME##_word == 8); \
		shmem_barrier_all(); \
	}
SHMEM_EXTENDED_AMO_TYPES_(EXTENDED)

#define STANDARD(NAME, TYPE) \
	static void standard_##NAME(void) \
	{ \
		TYPE got = 0; \
		NAME##_word = 5; \
		shmem_barrier_all(); \
		CHECK(shmem_##NAME##_atomic_compare_swap(&NAME##_word, 4, 9, right) == 5); \
		CHECK(shmem_##NAME##_atomic_compare_swap(&NAME##_word, 5, 9, right) == 5); \
		CHECK(shmem_##NAME##_atomic_fetch_inc(&NAME##_word, right) == 9); \
		shmem_ctx_##NAME##_atomic_inc(ctx, &NAME##_word, right); \
		CHECK(shmem_##NAME##_atomic_fetch_add(&NAME##_word, 10, right) == 11); \
		shmem_##NAME##_atomic_add(&NAME##_word, 10, right); \
		shmem_##NAME##_atomic_fetch_add_nbi(&got, &NAME##_word, 1, right); \
		shmem_quiet(); \
		CHECK(got == 31); \
		shmem_##NAME##_atomic_fetch_inc_nbi(&got, &NAME##_word, right); \
		shmem_quiet(); \
		CHECK(got == 32); \
		shmem_##NAME##_atomic_compare_swap_nbi(&got, &NAME##_word, 33, (TYPE)-1, right); \
		shmem_quiet(); \
		CHECK(got == 33); \
		shmem_barrier_all(); \
		CHECK(NAME##_word == (TYPE)-1); \
		NAME##_word = 0; \
		shmem_barrier_all(); \
		for (int i = 0; i < 50; i++) { \
			shmem_##NAME##_atomic_inc(&NAME##_word, 0); \
			shmem_##NAME##_atomic_fetch_add(&NAME##_word, 2, 0); \
		} \
		shmem_barrier_all(); \
		CHECK(me != 0 || NAME##_word == (TYPE)(150 * n)); \
		shmem_barrier_all(); \
	}
SHMEM_AMO_TYPES_(STANDARD)

#define BITWISE(NAME, TYPE) \
	static void bitwise_##NAME(void) \
	{ \
		TYPE got = 0; \
		NAME##_word = 12; \
		shmem_barrier_all(); \
		CHECK(shmem_##NAME##_atomic_fetch_and(&NAME##_word, 10, right) == 12); \
		CHECK(shmem_##NAME##_atomic_fetch_or(&NAME##_word, 3, right) == 8); \
		CHECK(shmem_##NAME##_atomic_fetch_xor(&NAME##_word, 15, right) == 11); \
		shmem_##NAME##_atomic_or(&NAME##_word, 16, right); \
		shmem_ctx_##NAME##_atomic_and(ctx, &NAME##_word, 20, right); \
		shmem_##NAME##_atomic_xor(&NAME##_word, 1, right); \
		shmem_##NAME##_atomic_fetch_or_nbi(&got, &NAME##_word, 2, right); \
		shmem_quiet(); \
		CHECK(got == 21); \
		shmem_##NAME##_atomic_fetch_and_nbi(&got, &NAME##_word, 22, right); \
		shmem_quiet(); \
		CHECK(got == 23); \
		shmem_##NAME##_atomic_fetch_xor_nbi(&got, &NAME##_word, 22, right); \
		shmem_quiet(); \
		CHECK(got == 22); \
		shmem_barrier_all(); \
		CHECK(NAME##_word == 0); \
		shmem_barrier_all(); \
	}
SHMEM_BITWISE_AMO_TYPES_(BITWISE)

#define OLD(NAME, TYPE) \
	static void old_##NAME(void) \
	{ \
		NAME##_word = 1; \
		shmem_barrier_all(); \
		CHECK(shmem_##NAME##_finc(&NAME##_word, right) == 1); \
		shmem_##NAME##_inc(&NAME##_word, right); \
		CHECK(shmem_##NAME##_fadd(&NAME##_word, 4, right) == 3); \
		shmem_##NAME##_add(&NAME##_word, 4, right); \
		CHECK(shmem_##NAME##_cswap(&NAME##_word, 11, 12, right) == 11); \
		CHECK(shmem_##NAME##_swap(&NAME##_word, 13, right) == 12); \
		shmem_##NAME##_set(&NAME##_word, 14, right); \
		CHECK(shmem_##NAME##_fetch(&NAME##_word, right) == 14); \
		shmem_barrier_all(); \
	}
SHMEM_OLD_AMO_TYPES_(OLD)

int main(void)
{
	begin();
	CHECK(shmem_ctx_create(0, &ctx) == 0);
#define CALL_1(NAME, TYPE) extended_##NAME();
#define CALL_2(NAME, TYPE) standard_##NAME();
#define CALL_3(NAME, TYPE) bitwise_##NAME();
#define CALL_4(NAME, TYPE) old_##NAME();
	SHMEM_EXTENDED_AMO_TYPES_(CALL_1)
	SHMEM_AMO_TYPES_(CALL_2)
	SHMEM_BITWISE_AMO_TYPES_(CALL_3)
	SHMEM_OLD_AMO_TYPES_(CALL_4)
	shmem_ctx_destroy(ctx);
	return end("atomics");
}
