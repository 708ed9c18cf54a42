/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets of every type and size, blocking and not, with and without a context. */
#include "check.h"

enum { MOST = 70000 };

static shmem_ctx_t ctx;

#define TYPED(NAME, TYPE) \
	static TYPE NAME##_to[9], NAME##_from[9]; \
	static void test_##NAME(void) \
	{ \
		for (int i = 0; i < 9; i++) NAME##_from[i] = (TYPE)(me * 9 + i); \
		shmem_barrier_all(); \
		shmem_##NAME##_put(NAME##_to, NAME##_from, 2, right); \
		shmem_ctx_##NAME##_put(ctx, NAME##_to + 2, NAME##_from + 2, 2, right); \
		shmem_##NAME##_put_nbi(NAME##_to + 4, NAME##_from + 4, 2, right); \
		shmem_ctx_##NAME##_put_nbi(ctx, NAME##_to + 6, NAME##_from + 6, 1, right); \
		shmem_##NAME##_p(NAME##_to + 7, NAME##_from[7], right); \
		shmem_ctx_##NAME##_p(ctx, NAME##_to + 8, NAME##_from[8], right); \
		shmem_ctx_quiet(ctx); \
		shmem_barrier_all(); \
		for (int i = 0; i < 9; i++) CHECK(NAME##_to[i] == (TYPE)(left * 9 + i)); \
		TYPE back[9]; \
		shmem_##NAME##_get(back, NAME##_from, 3, left); \
		shmem_ctx_##NAME##_get(ctx, back + 3, NAME##_from + 3, 2, left); \
		shmem_##NAME##_get_nbi(back + 5, NAME##_from + 5, 1, left); \
		shmem_ctx_##NAME##_get_nbi(ctx, back + 6, NAME##_from + 6, 1, left); \
		back[7] = shmem_##NAME##_g(NAME##_from + 7, left); \
		back[8] = shmem_ctx_##NAME##_g(ctx, NAME##_from + 8, left); \
		shmem_quiet(); \
		shmem_ctx_quiet(ctx); \
		for (int i = 0; i < 9; i++) CHECK(back[i] == NAME##_to[i]); \
		for (int i = 0; i < 9; i++) NAME##_to[i] = 0; \
		shmem_barrier_all(); \
		shmem_##NAME##_iput(NAME##_to, NAME##_from, 2, 3, 3, right); \
		shmem_barrier_all(); \
		for (int i = 0; i < 9; i++) \
			CHECK(NAME##_to[i] == (TYPE)(i % 2 || i > 4 ? 0 : left * 9 + i / 2 * 3)); \
		shmem_ctx_##NAME##_iget(ctx, back, NAME##_from, 4, 2, 3, left); \
		for (int i = 0; i < 3; i++) CHECK(back[4 * i] == (TYPE)(left * 9 + 2 * i)); \
		CHECK(back[1] == (TYPE)(left * 9 + 1)); \
	}
SHMEM_RMA_TYPES_(TYPED)

static unsigned char to[16 * MOST], from[16 * MOST];

#define SIZED(BITS, BYTES) \
	static void test_##BITS(size_t nelems) \
	{ \
		for (size_t i = 0; i < nelems * BYTES; i++) \
			from[i] = (unsigned char)(i * 7 + (size_t)me); \
		memset(to, 0, nelems * BYTES); \
		shmem_barrier_all(); \
		shmem_put##BITS(to, from, nelems / 2, right); \
		shmem_put##BITS##_nbi(to + nelems / 2 * BYTES, from + nelems / 2 * BYTES, \
			nelems - nelems / 2, right); \
		shmem_barrier_all(); \
		for (size_t i = 0; i < nelems * BYTES; i++) \
			CHECK(to[i] == (unsigned char)(i * 7 + (size_t)left)); \
		shmem_barrier_all(); \
		memset(to, 0, nelems * BYTES); \
		shmem_get##BITS(to, from, nelems / 3, right); \
		shmem_ctx_get##BITS##_nbi(ctx, to + nelems / 3 * BYTES, from + nelems / 3 * BYTES, \
			nelems - nelems / 3, right); \
		shmem_ctx_quiet(ctx); \
		for (size_t i = 0; i < nelems * BYTES; i++) \
			CHECK(to[i] == (unsigned char)(i * 7 + (size_t)right)); \
		shmem_barrier_all(); \
	}
SIZED(8, 1)
SIZED(16, 2)
SIZED(32, 4)
SIZED(64, 8)
SIZED(128, 16)
SIZED(mem, 1)

static void ordered(void)
{
	static long data[100], flag;
	for (long round = 1; round <= 100; round++) {
		for (int i = 0; i < 100; i++) shmem_long_put_nbi(&data[i], &round, 1, right);
		shmem_fence();
		shmem_long_p(&flag, round, right);
		shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
		for (int i = 0; i < 100; i++) CHECK(data[i] == round);
		shmem_barrier_all();
	}
}

int main(void)
{
	begin();
	CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
#define CALL(NAME, TYPE) test_##NAME();
	SHMEM_RMA_TYPES_(CALL)
	for (size_t nelems = 1; nelems < MOST; nelems *= 9) {
		test_8(nelems);
		test_16(nelems);
		test_32(nelems);
		test_64(nelems);
		test_128(nelems);
		test_mem(nelems);
	}
	shmem_int_put(NULL, NULL, 0, right);
	ordered();
	shmem_ctx_destroy(ctx);
	return end("transfer");
}
