/*
 * update_pairs.c - the operators of update.h that choose or move whole elements: greatest and least
 * value with its place, replace and no-op. Must not lock.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The result of MINLOC and MAXLOC is one of the two pairs as it is: the one with the greater (or
 * lesser) value, of equal values the one with the lower index. So a pair is moved as a block,
 * padding included, and one of 8 bytes is one store.
 */
#include "update_ops.h"

/* CHOOSE defines NAME, which replaces a pair if the one at src has a value that is BETTER, or as
 * good and of lower index. Numbers and blocks are loaded apart: a compiler that took a block apart
 * into numbers would lose its padding. */
#define CHOOSE(NAME, VALUE, INDEX, BLOCK, BETTER)                                             \
	static inline int NAME##_takes(const char *dst, const char *src)                      \
	{                                                                                     \
		size_t at = sizeof(BLOCK) / 2;                                                \
		VALUE  x, y;                                                                  \
		INDEX  i, j;                                                                  \
		memcpy(&x, dst, sizeof x);                                                    \
		memcpy(&y, src, sizeof y);                                                    \
		memcpy(&i, dst + at, sizeof i);                                               \
		memcpy(&j, src + at, sizeof j);                                               \
		return y BETTER x || (y == x && j < i);                                       \
	}                                                                                     \
	static inline void NAME##_one(char *dst, const char *src, char *old)                  \
	{                                                                                     \
		BLOCK was = *(const BLOCK *)dst, new = *(const BLOCK *)src;                   \
		int   takes = NAME##_takes(dst, src);                                         \
		if (old)                                                                      \
			*(BLOCK *)old = was;                                                  \
		if (takes)                                                                    \
			*(BLOCK *)dst = new;                                                  \
	}                                                                                     \
	static void NAME##_many(char *dst, const char *src, size_t n)                         \
	{                                                                                     \
		for (; n > 0; n--, dst += sizeof(BLOCK), src += sizeof(BLOCK))                \
			NAME##_one(dst, src, NULL);                                           \
	}

#define PAIRS(NAME, VALUE, INDEX, BLOCK) \
	struct NAME { \
		VALUE value; \
		INDEX index; \
	}; \
	_Static_assert(sizeof(struct NAME) == sizeof(BLOCK) && \
			offsetof(struct NAME, index) == sizeof(BLOCK) / 2, \
		"the index begins in the middle"); \
	CHOOSE(NAME##_maxloc, VALUE, INDEX, BLOCK, >) \
	CHOOSE(NAME##_minloc, VALUE, INDEX, BLOCK, <) \
	k_update_row k_update_##NAME = {OP(K_U_MAXLOC, NAME##_maxloc), \
		OP(K_U_MINLOC, NAME##_minloc)};

PAIRS(pair_f32_i, float, int, k_u64_at)
PAIRS(pair_f64_i, double, int, k_b16_at)
PAIRS(pair_l_i, long, int, k_b16_at)
PAIRS(pair_2i, int, int, k_u64_at)
PAIRS(pair_i16_i, short, int, k_u64_at)
PAIRS(pair_f80_i, long double, int, k_b32_at)
PAIRS(pair_2f32, float, float, k_u64_at)
PAIRS(pair_2f64, double, double, k_b16_at)
PAIRS(pair_2i64, int64_t, int64_t, k_b16_at)

/* MOVES defines replace and no-op for elements of one size. A no-op does not look at src. */
#define MOVES(NAME, AT)                                                                       \
	UPDATE_ONE(NAME##_replace, AT, AT, y)                                                 \
	static void NAME##_replace_many(char *dst, const char *src, size_t n)                 \
	{                                                                                     \
		k_copy(dst, src, n * sizeof(AT));                                             \
	}                                                                                     \
	static void NAME##_noop_one(char *dst, const char *src, char *old)                    \
	{                                                                                     \
		(void)src;                                                                    \
		if (old)                                                                      \
			*(AT *)old = *(const AT *)dst;                                        \
	}

MOVES(b1, k_u8_at)
MOVES(b2, k_u16_at)
MOVES(b4, k_u32_at)
MOVES(b8, k_u64_at)
MOVES(b16, k_b16_at)
MOVES(b32, k_b32_at)

static void nothing(char *dst, const char *src, size_t n) { (void)dst, (void)src, (void)n; }

#define REPLACE(NAME) { NAME##_replace_one, NAME##_replace_many }
#define NOOP(NAME)    { NAME##_noop_one, nothing }

const struct k_updater k_update_replace[] = {REPLACE(b1), REPLACE(b2), REPLACE(b4), REPLACE(b8),
	REPLACE(b16), REPLACE(b32)};
const struct k_updater k_update_noop[] = {NOOP(b1), NOOP(b2), NOOP(b4), NOOP(b8), NOOP(b16),
	NOOP(b32)};
