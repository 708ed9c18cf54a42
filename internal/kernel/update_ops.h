/*
 * update_ops.h - what the update files of this directory share: the functions of an operator and a
 * type, and how a stripe is taken. Must not be included outside it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * UPDATE makes both functions of an operator from one expression. All loads of an element come
 * before the first store, so old may be src. A store of 1, 2, 4 or 8 bytes is one: others may look
 * at the element with a plain load.
 */
#ifndef LIBARMCI_KERNEL_UPDATE_OPS_H
#define LIBARMCI_KERNEL_UPDATE_OPS_H

#include "clones.h"
#include "turn.h"
#include "update.h"

/* What an operator does to elements of a type; {NULL, NULL} where it is not defined. */
struct k_updater {
	/* one element; old NULL: not wanted */
	void (*one)(char *dst, const char *src, char *old);
	void (*many)(char *dst, const char *src, size_t n);     /* n elements */
};

/* Elements as they are in memory, at any address. The blocks are for what is only moved or chosen.
 */
typedef int8_t k_i8_at K_ANYWHERE;
typedef uint8_t k_u8_at K_ANYWHERE;
typedef int16_t k_i16_at K_ANYWHERE;
typedef uint16_t k_u16_at K_ANYWHERE;
typedef int32_t k_i32_at K_ANYWHERE;
typedef uint32_t k_u32_at K_ANYWHERE;
typedef int64_t k_i64_at K_ANYWHERE;
typedef uint64_t k_u64_at K_ANYWHERE;
typedef long double k_f80_at K_ANYWHERE;
typedef struct __attribute__((packed, may_alias)) {
	uint64_t w[2];
} k_b16_at;
typedef struct __attribute__((packed, may_alias)) {
	uint64_t w[4];
} k_b32_at;

/* UPDATE_ONE and UPDATE_MANY define the functions: x (of dst) and y (of src), as a V, give EXPR,
 * which is stored as an AT. */
#define UPDATE_ONE(NAME, AT, V, EXPR)                                     \
	static void NAME##_one(char *dst, const char *src, char *old)     \
	{                                                                 \
		V x = *(const AT *)dst, y = *(const AT *)src;             \
		if (old)                                                  \
			*(AT *)old = x;                                   \
		*(AT *)dst = EXPR;                                        \
	}

#define UPDATE_MANY(CLONES, NAME, AT, V, EXPR)                            \
	CLONES static void NAME##_many(char *dst, const char *src, size_t n) \
	{                                                                 \
		AT       *d = (AT *)dst;                                  \
		const AT *s = (const AT *)src;                            \
		K_SAME_OR_APART                                           \
		for (size_t i = 0; i < n; i++) {                          \
			V x = d[i], y = s[i];                             \
			d[i] = EXPR;                                      \
		}                                                         \
	}

#define UPDATE(CLONES, NAME, AT, V, EXPR)  \
	UPDATE_ONE(NAME, AT, V, EXPR)      \
	UPDATE_MANY(CLONES, NAME, AT, V, EXPR)

#define NO_CLONES

/* OP is an operator's place in the table of a type. */
#define OP(CODE, NAME) [CODE] = { NAME##_one, NAME##_many }

#pragma GCC visibility push(hidden)

/* The operators of each type but K_U_REPLACE and K_U_NOOP, which are found by log2 of the element
 * size. */
typedef const struct k_updater k_update_row[K_UPDATE_OPS];
extern k_update_row k_update_i8, k_update_u8, k_update_i16, k_update_u16, k_update_i32,
	k_update_u32, k_update_i64, k_update_u64;
extern k_update_row k_update_l8, k_update_l16, k_update_l32, k_update_l64, k_update_bits;
extern k_update_row k_update_f32, k_update_f64, k_update_f80, k_update_c32, k_update_c64,
	k_update_c80;
extern k_update_row k_update_pair_f32_i, k_update_pair_f64_i, k_update_pair_l_i, k_update_pair_2i,
	k_update_pair_i16_i;
extern k_update_row k_update_pair_f80_i, k_update_pair_2f32, k_update_pair_2f64, k_update_pair_2i64;
extern const struct k_updater k_update_replace[], k_update_noop[];

#pragma GCC visibility pop

/* k_take takes the stripe of an address and gives its word, for k_unlock. */
static inline k_lock_word *k_take(const struct k_stripes *st, const void *dst)
{
	k_lock_word *word = k_stripe_word(st, dst);

	k_take_word(st, word);
	return word;
}

#endif
