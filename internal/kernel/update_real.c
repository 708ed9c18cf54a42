/*
 * update_real.c - the operators of update.h on real and complex numbers. Must not lock.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Maximum and minimum are plain comparisons: with a NaN they are false, so what is in memory stays.
 */
#include "update_ops.h"

#define REAL(CLONES, NAME, AT, V) \
	UPDATE(CLONES, NAME##_sum, AT, V, x + y) \
	UPDATE(CLONES, NAME##_prod, AT, V, x *y) \
	UPDATE(CLONES, NAME##_max, AT, V, y > x ? y : x) \
	UPDATE(CLONES, NAME##_min, AT, V, y < x ? y : x) \
	k_update_row k_update_##NAME = {OP(K_U_SUM, NAME##_sum), OP(K_U_PROD, NAME##_prod), \
		OP(K_U_MAX, NAME##_max), OP(K_U_MIN, NAME##_min)};

REAL(K_CLONES, f32, k_flt_at, float)
REAL(K_CLONES, f64, k_dbl_at, double)
REAL(NO_CLONES, f80, k_f80_at, long double)

/* Two reals are added as such where a complex number need not be one store. */
static void c64_sum_many(char *dst, const char *src, size_t n) { f64_sum_many(dst, src, 2 * n); }

/* COMPLEX defines sum and product of complex numbers, which are loaded and stored as blocks: a
 * complex float is one store. Products are rounded one by one: vectorised, GCC would fuse them with
 * the sums on some machines even where it is told not to. */
#define COMPLEX(NAME, BLOCK, T)                                                               \
	static inline BLOCK NAME##_add(BLOCK a, BLOCK b)                                      \
	{                                                                                     \
		T x[2], y[2];                                                                 \
		memcpy(x, &a, sizeof x);                                                      \
		memcpy(y, &b, sizeof y);                                                      \
		x[0] += y[0];                                                                 \
		x[1] += y[1];                                                                 \
		memcpy(&a, x, sizeof a);                                                      \
		return a;                                                                     \
	}                                                                                     \
	static inline BLOCK NAME##_mul(BLOCK a, BLOCK b)                                      \
	{                                                                                     \
		T x[2], y[2];                                                                 \
		memcpy(x, &a, sizeof x);                                                      \
		memcpy(y, &b, sizeof y);                                                      \
		T rr = x[0] * y[0], ii = x[1] * y[1], ri = x[0] * y[1], ir = x[1] * y[0];     \
		K_ROUND(rr);                                                                  \
		K_ROUND(ii);                                                                  \
		K_ROUND(ri);                                                                  \
		K_ROUND(ir);                                                                  \
		x[0] = rr - ii;                                                               \
		x[1] = ri + ir;                                                               \
		memcpy(&a, x, sizeof a);                                                      \
		return a;                                                                     \
	}                                                                                     \
	UPDATE_ONE(NAME##_sum, BLOCK, BLOCK, NAME##_add(x, y))                                \
	UPDATE(NO_CLONES, NAME##_prod, BLOCK, BLOCK, NAME##_mul(x, y))                        \
	k_update_row k_update_##NAME = { OP(K_U_SUM, NAME##_sum), OP(K_U_PROD, NAME##_prod) };

/* A complex float is added as a short vector. */
typedef float c32_pair __attribute__((vector_size(8), aligned(1), may_alias));

UPDATE_MANY(NO_CLONES, c32_sum, c32_pair, c32_pair, x + y)
COMPLEX(c32, k_u64_at, float)
COMPLEX(c64, k_b16_at, double)

/* Complex long doubles go part by part, without their padding. */
static void c80_sum_many(char *dst, const char *src, size_t n) { f80_sum_many(dst, src, 2 * n); }

static void c80_sum_one(char *dst, const char *src, char *old)
{
	size_t half = sizeof(long double);

	f80_sum_one(dst, src, old);
	f80_sum_one(dst + half, src + half, old ? old + half : NULL);
}

static void c80_prod_one(char *dst, const char *src, char *old)
{
	k_f80_at       *d = (k_f80_at *)dst, *o = (k_f80_at *)old;
	const k_f80_at *s = (const k_f80_at *)src;
	long double     a = d[0], b = d[1], x = s[0], y = s[1];

	if (o) {
		o[0] = a;
		o[1] = b;
	}
	d[0] = a * x - b * y;
	d[1] = a * y + b * x;
}

static void c80_prod_many(char *dst, const char *src, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c80_prod_one(dst + i * sizeof(k_b32_at), src + i * sizeof(k_b32_at), NULL);
}

k_update_row k_update_c80 = { OP(K_U_SUM, c80_sum), OP(K_U_PROD, c80_prod) };
