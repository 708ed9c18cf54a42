/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of every type and operation, over teams and active sets, in place and not. */
#include "check.h"

enum { MOST = 3000 };

/* The value of a PE, small enough that products of integers wrap alike everywhere. */
#define VALUE(TYPE, pe, i) ((TYPE)(((pe) * 5 + (i) * 3) % 11 + ((i) % 4 == 0 ? -6 : 1)))
#define SAME(a, b) ((a) == (b))

#define BUFFERS(NAME, TYPE) static TYPE NAME##_to[MOST], NAME##_from[MOST];
SHMEM_ARITHMETIC_REDUCE_TYPES_(BUFFERS)
static long sync_array[SHMEM_REDUCE_SYNC_SIZE];

#define TEST(NAME, TYPE, OP, EXPRESSION) \
	static void NAME##_##OP(shmem_team_t team, size_t count) \
	{ \
		int members = shmem_team_n_pes(team); \
		for (size_t i = 0; i < count; i++) NAME##_from[i] = VALUE(TYPE, me, (int)i); \
		CHECK(shmem_##NAME##_##OP##_reduce(team, NAME##_to, NAME##_from, count) == 0); \
		CHECK(shmem_##NAME##_##OP##_reduce(team, NAME##_from, NAME##_from, count) == 0); \
		for (size_t i = 0; i < count; i++) { \
			TYPE a = 0; \
			for (int k = 0; k < members; k++) { \
				int pe = shmem_team_translate_pe(team, k, SHMEM_TEAM_WORLD); \
				TYPE b = VALUE(TYPE, pe, (int)i); \
				a = k == 0 ? b : (TYPE)(EXPRESSION); \
			} \
			CHECK(SAME(NAME##_to[i], a) && SAME(NAME##_from[i], a)); \
		} \
	}
#define BITWISE(NAME, TYPE) \
	TEST(NAME, TYPE, and, a & b) TEST(NAME, TYPE, or, a | b) TEST(NAME, TYPE, xor, a ^ b)
#define MINMAX(NAME, TYPE) \
	TEST(NAME, TYPE, max, a > b ? a : b) TEST(NAME, TYPE, min, a < b ? a : b)
#define ARITHMETIC(NAME, TYPE) TEST(NAME, TYPE, sum, a + b) TEST(NAME, TYPE, prod, a * b)
SHMEM_BITWISE_REDUCE_TYPES_(BITWISE)
SHMEM_MINMAX_REDUCE_TYPES_(MINMAX)
SHMEM_ARITHMETIC_REDUCE_TYPES_(ARITHMETIC)

static void all(shmem_team_t team, size_t count)
{
#define CALL_1(NAME, TYPE) NAME##_and(team, count); NAME##_or(team, count); NAME##_xor(team, count);
#define CALL_2(NAME, TYPE) NAME##_max(team, count); NAME##_min(team, count);
#define CALL_3(NAME, TYPE) NAME##_sum(team, count); NAME##_prod(team, count);
	SHMEM_BITWISE_REDUCE_TYPES_(CALL_1)
	SHMEM_MINMAX_REDUCE_TYPES_(CALL_2)
	SHMEM_ARITHMETIC_REDUCE_TYPES_(CALL_3)
}

#define TO_ALL(NAME, TYPE, OP, EXPRESSION) \
	for (int i = 0; i < 7; i++) NAME##_from[i] = VALUE(TYPE, me, i); \
	shmem_##NAME##_##OP##_to_all(NAME##_to, NAME##_from, 7, start, log_stride, size, NULL, \
		sync_array); \
	for (int i = 0; i < 7; i++) { \
		TYPE a = 0; \
		for (int k = 0; k < size; k++) { \
			TYPE b = VALUE(TYPE, start + (k << log_stride), i); \
			a = k == 0 ? b : (TYPE)(EXPRESSION); \
		} \
		CHECK(SAME(NAME##_to[i], a)); \
	}

static void active_set(int start, int log_stride, int size)
{
#define SET_1(NAME, TYPE) TO_ALL(NAME, TYPE, and, a & b) TO_ALL(NAME, TYPE, xor, a ^ b) \
	TO_ALL(NAME, TYPE, or, a | b)
#define SET_2(NAME, TYPE) \
	TO_ALL(NAME, TYPE, max, a > b ? a : b) TO_ALL(NAME, TYPE, min, a < b ? a : b)
#define SET_3(NAME, TYPE) TO_ALL(NAME, TYPE, sum, a + b) TO_ALL(NAME, TYPE, prod, a * b)
	if (me < start || (me - start) % (1 << log_stride) || (me - start) >> log_stride >= size)
		return;
	SHMEM_BITWISE_TO_ALL_TYPES_(SET_1)
	SHMEM_MINMAX_TO_ALL_TYPES_(SET_2)
	SHMEM_ARITHMETIC_TO_ALL_TYPES_(SET_3)
}

int main(void)
{
	begin();
	sync_array[0] = SHMEM_SYNC_VALUE;
	all(SHMEM_TEAM_WORLD, 1);
	all(SHMEM_TEAM_WORLD, 5);
	all(SHMEM_TEAM_WORLD, MOST);
	shmem_int_sum_reduce(SHMEM_TEAM_WORLD, int_to, int_from, 0);
	shmem_team_t even;
	CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &even) == 0);
	if (even != SHMEM_TEAM_INVALID)
		all(even, 9);
	shmem_team_destroy(even);
	active_set(0, 0, n);
	active_set(0, 1, (n + 1) / 2);
	active_set(n - 1, 0, 1);
	active_set(0, 1, (n + 1) / 2);
	return end("reductions");
}
