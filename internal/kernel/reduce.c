/*
 * reduce.c - element-wise reductions for the message operations. Must not accumulate into shared
 * memory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One small loop per operator and type, chosen from a table; a hole in the table is an undefined
 * combination. Integers are computed unsigned where they could overflow. NaN: a comparison with it
 * is false, so the earlier value stays.
 */
#include "kernel.h"
#include "clones.h"

typedef void (*reducer)(void *out, const void *left, const void *right, size_t n);

/* LOOP defines NAME: for every element, x (of left, as a V) and y (of right) give EXPR. T is how
 * elements are stored. out may be left or right, but never part of one (K_SAME_OR_APART). */
#define LOOP(NAME, T, V, EXPR)                                                                  \
	K_CLONES static void NAME(void *out, const void *left, const void *right, size_t n)     \
	{                                                                                       \
		T       *o = out;                                                               \
		const T *a = left, *b = right;                                                  \
		K_SAME_OR_APART                                                                 \
		for (size_t i = 0; i < n; i++) {                                                \
			V x = a[i], y = b[i];                                                   \
			o[i] = EXPR;                                                            \
		}                                                                               \
	}

/* ORDERED and LOGICAL define the operators that all real types have; ABS gives an absolute value.
 */
#define ORDERED(NAME, T, V, ABS)                                                    \
	LOOP(NAME##_max, T, V, y > x ? y : x)                                       \
	LOOP(NAME##_min, T, V, y < x ? y : x)                                       \
	LOOP(NAME##_absmax, T, V, ABS(y) > ABS(x) ? ABS(y) : ABS(x))                \
	LOOP(NAME##_absmin, T, V, ABS(y) < ABS(x) ? ABS(y) : ABS(x))

#define LOGICAL(NAME, T, V)                                                         \
	LOOP(NAME##_lor, T, V, (V)((x != 0) | (y != 0)))                            \
	LOOP(NAME##_land, T, V, (V)((x != 0) & (y != 0)))

#define ARITHMETIC(NAME, T, V)                                                      \
	LOOP(NAME##_sum, T, V, x + y)                                               \
	LOOP(NAME##_prod, T, V, x * y)

#define BITWISE(NAME, T, V)                                                         \
	LOOP(NAME##_bor, T, V, x | y)                                               \
	LOOP(NAME##_band, T, V, x & y)

/* The absolute value of the least integer is that integer: it wraps. */
#define ABS_INT(v) ((v) < 0 ? (int)(0u - (unsigned)(v)) : (v))
#define ABS_LNG(v) ((v) < 0 ? (long)(0ul - (unsigned long)(v)) : (v))

ARITHMETIC(int, k_uint_at, unsigned)
BITWISE(int, k_uint_at, unsigned)
ORDERED(int, k_int_at, int, ABS_INT)
LOGICAL(int, k_int_at, int)
ARITHMETIC(lng, k_ulng_at, unsigned long)
BITWISE(lng, k_ulng_at, unsigned long)
ORDERED(lng, k_lng_at, long, ABS_LNG)
LOGICAL(lng, k_lng_at, long)
ARITHMETIC(flt, k_flt_at, float)
ORDERED(flt, k_flt_at, float, __builtin_fabsf)
LOGICAL(flt, k_flt_at, float)
ARITHMETIC(dbl, k_dbl_at, double)
ORDERED(dbl, k_dbl_at, double, __builtin_fabs)
LOGICAL(dbl, k_dbl_at, double)

/* COMPLEX defines sum and product of pairs of T. The product is rounded step by step (K_ROUND):
 * vectorised, GCC would fuse it on some machines even where it is told not to. */
#define COMPLEX(NAME, T, V, REAL_SUM)                                                           \
	static void NAME##_sum(void *out, const void *left, const void *right, size_t n)        \
	{                                                                                       \
		REAL_SUM(out, left, right, 2 * n);                                              \
	}                                                                                       \
	static void NAME##_prod(void *out, const void *left, const void *right, size_t n)       \
	{                                                                                       \
		T       *o = out;                                                               \
		const T *a = left, *b = right;                                                  \
		for (size_t i = 0; i < 2 * n; i += 2) {                                         \
			V x = a[i], y = a[i + 1], u = b[i], v = b[i + 1];                       \
			V xu = x * u, yv = y * v, xv = x * v, yu = y * u;                       \
			K_ROUND(xu);                                                            \
			K_ROUND(yv);                                                            \
			K_ROUND(xv);                                                            \
			K_ROUND(yu);                                                            \
			o[i] = xu - yv;                                                         \
			o[i + 1] = xv + yu;                                                     \
		}                                                                               \
	}

COMPLEX(cpl, k_flt_at, float, flt_sum)
COMPLEX(dcp, k_dbl_at, double, dbl_sum)

#define INTEGER_ROW(op) { [K_INT] = int_##op, [K_LNG] = lng_##op, [K_LLNG] = lng_##op }
#define REAL_ROW(op) \
	{ \
		[K_INT] = int_##op, [K_LNG] = lng_##op, [K_LLNG] = lng_##op, [K_FLT] = flt_##op, \
		[K_DBL] = dbl_##op \
	}
#define FULL_ROW(op) \
	{ \
		[K_INT] = int_##op, [K_LNG] = lng_##op, [K_LLNG] = lng_##op, [K_FLT] = flt_##op, \
		[K_DBL] = dbl_##op, [K_CPL] = cpl_##op, [K_DCP] = dcp_##op \
	}

static const reducer table[K_NRED][K_NTYPES] = {
	[K_SUM] = FULL_ROW(sum),       [K_PROD] = FULL_ROW(prod),     [K_MAX] = REAL_ROW(max),
	[K_MIN] = REAL_ROW(min),       [K_ABSMAX] = REAL_ROW(absmax), [K_ABSMIN] = REAL_ROW(absmin),
	[K_BOR] = INTEGER_ROW(bor),    [K_BAND] = INTEGER_ROW(band),  [K_LOR] = REAL_ROW(lor),
	[K_LAND] = REAL_ROW(land),
};

int k_reduce_valid(int red, int type)
{
	return red >= 0 && red < K_NRED && type >= 0 && type < K_NTYPES && table[red][type] != NULL;
}

void k_reduce_to(int red, int type, void *out, const void *left, const void *right, size_t nelem)
{
	if (k_reduce_valid(red, type))
		table[red][type](out, left, right, nelem);
}

void k_reduce(int red, int type, void *inout, const void *in, size_t nelem)
{
	k_reduce_to(red, type, inout, inout, in, nelem);
}

void k_reduce_finish(int red, int type, void *x, size_t nelem)
{
	/* Each of these gives the wanted value when an element meets itself: max(|x|, |x|), x || x.
	 */
	if (red == K_ABSMAX || red == K_ABSMIN || red == K_LOR || red == K_LAND)
		k_reduce(red, type, x, x, nelem);
}
