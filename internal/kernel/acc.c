/*
 * acc.c - the arithmetic of accumulate: dst += scale * src for six types. Must not lock.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a multiplication costs something, a scale of 1 has its own loop: integers, and complex
 * types, which then are twice as many real numbers. For real numbers the multiplication is free,
 * memory being slower, and 1 * x is x. dst == src is allowed, so there is no restrict. Rows are
 * added by one call: those of a small patch are too short to pay for one each.
 */
#include "acc_kernels.h"
#include "clones.h"

/* ROWS defines the function of a loop, `each`, over rows of elements that are stored as T: integers
 * as unsigned, so that they wrap. A row is at d and s, the scale is f; `first` is done once. */
#define ROW_ARGS \
	char *dst, int64_t dstep, const char *src, int64_t sstep, const void *scale, size_t n, \
		size_t rows
#define ROWS(NAME, T, first, each)                                     \
	K_CLONES static void NAME(ROW_ARGS)                            \
	{                                                              \
		const T *f = scale;                                    \
		first;                                                 \
		for (; rows > 0; rows--, dst += dstep, src += sstep) { \
			T       *d = (T *)dst;                         \
			const T *s = (const T *)src;                   \
			K_SAME_OR_APART                                \
			each                                           \
		}                                                      \
	}

#define SCALED(NAME, T, V)                                             \
	ROWS(NAME##_scaled, T, V by = *f,                              \
	     for (size_t i = 0; i < n; i++) d[i] += by * s[i];)

#define PLAIN(NAME, T)                                                 \
	ROWS(NAME##_plain, T, (void)f,                                 \
	     for (size_t i = 0; i < n; i++) d[i] += s[i];)

/* COMPLEX defines the two functions of a complex type stored as pairs of T. The real part adds
 * minus_im * y instead of subtracting im * y (the same value): GCC turns alternating - and + into a
 * fused instruction where there is one, even though it is told not to fuse. */
#define COMPLEX(NAME, T, V, REAL)                                      \
	ROWS(NAME##_scaled, T, V re = f[0]; V im = f[1]; V minus_im = -im, \
	     for (size_t i = 0; i < 2 * n; i += 2) {                   \
		     V x = s[i];                                       \
		     V y = s[i + 1];                                   \
		     d[i] += re * x + minus_im * y;                    \
		     d[i + 1] += re * y + im * x;                      \
	     })                                                        \
	static void NAME##_plain(ROW_ARGS)                             \
	{ /* the real part of the scale is 1 */                        \
		REAL(dst, dstep, src, sstep, scale, 2 * n, rows);      \
	}

SCALED(int, k_uint_at, unsigned)
SCALED(lng, k_ulng_at, unsigned long)
SCALED(flt, k_flt_at, float)
SCALED(dbl, k_dbl_at, double)
PLAIN(int, k_uint_at)
PLAIN(lng, k_ulng_at)
COMPLEX(cpl, k_flt_at, float, flt_scaled)
COMPLEX(dcp, k_dbl_at, double, dbl_scaled)

/* ONE makes a function to point to of an inline one-element accumulate. */
#define ONE(NAME)                                                                          \
	static void NAME##_one(ROW_ARGS)                                                   \
	{                                                                                  \
		(void)dstep, (void)sstep, (void)n, (void)rows;                             \
		k_add_one_##NAME(dst, src, scale);                                         \
	}

ONE(int)
ONE(lng)
ONE(flt)
ONE(dbl)
ONE(cpl)
ONE(dcp)

k_adder k_adder_of_one(int type)
{
	static const k_adder table[] = {
		[K_INT] = int_one, [K_LNG] = lng_one, [K_FLT] = flt_one,
		[K_DBL] = dbl_one, [K_CPL] = cpl_one, [K_DCP] = dcp_one,
	};

	return table[type];
}

k_adder k_adder_for(int type, const void *scale)
{
	const k_flt_at *f = scale;
	const k_dbl_at *d = scale;

	switch (type) {
	case K_INT: return *(const k_int_at *)scale == 1 ? int_plain : int_scaled;
	case K_LNG: return *(const k_lng_at *)scale == 1 ? lng_plain : lng_scaled;
	case K_FLT: return flt_scaled;
	case K_DBL: return dbl_scaled;
	case K_CPL: return f[0] == 1 && f[1] == 0 ? cpl_plain : cpl_scaled;
	case K_DCP: return d[0] == 1 && d[1] == 0 ? dcp_plain : dcp_scaled;
	default: return NULL;
	}
}

void k_acc_raw(int type, const void *scale, void *dst, const void *src, size_t nbytes)
{
	k_adder add = k_adder_for(type, scale);

	if (add)
		add(dst, 0, src, 0, scale, nbytes / k_small_size(type), 1);
}
