/*
 * acc.c - the arithmetic of accumulate: dst += scale * src for six types. Must not lock.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each type has a loop with and one without multiplication. dst == src is allowed, so there is no restrict: the
 * compiler checks for overlap once per call.
 */
#include "acc_kernels.h"
#include "clones.h"

/* ADDERS defines the two loops of a real type: T is how an element is stored, integers as unsigned so that they wrap. */
#define ADDERS(NAME, T, V)                                                                 \
	K_CLONES static void NAME##_scaled(void *dst, const void *src, const void *scale, size_t n) \
	{                                                                                  \
		T       *d = dst;                                                          \
		const T *s = src;                                                          \
		V        f = *(const T *)scale;                                            \
		for (size_t i = 0; i < n; i++)                                             \
			d[i] += f * s[i];                                                  \
	}                                                                                  \
	K_CLONES static void NAME##_plain(void *dst, const void *src, const void *scale, size_t n) \
	{                                                                                  \
		T       *d = dst;                                                          \
		const T *s = src;                                                          \
		(void)scale;                                                               \
		for (size_t i = 0; i < n; i++)                                             \
			d[i] += s[i];                                                      \
	}

/* COMPLEX_ADDERS defines the two loops of a complex type stored as pairs of T. The real part adds minus_im * y instead of
 * subtracting im * y (the same value): GCC turns alternating - and + into a fused instruction where there is one, even
 * though it is told not to fuse. */
#define COMPLEX_ADDERS(NAME, T, V, PLAIN)                                                  \
	K_CLONES static void NAME##_scaled(void *dst, const void *src, const void *scale, size_t n) \
	{                                                                                  \
		T       *d = dst;                                                          \
		const T *s = src, *f = scale;                                              \
		V        re = f[0], im = f[1], minus_im = -im;                             \
		for (size_t i = 0; i < 2 * n; i += 2) {                                    \
			V x = s[i], y = s[i + 1];                                          \
			d[i] += re * x + minus_im * y;                                     \
			d[i + 1] += re * y + im * x;                                       \
		}                                                                          \
	}                                                                                  \
	static void NAME##_plain(void *dst, const void *src, const void *scale, size_t n)  \
	{                                                                                  \
		PLAIN(dst, src, scale, 2 * n);                                             \
	}

ADDERS(int, k_uint_at, unsigned)
ADDERS(lng, k_ulng_at, unsigned long)
ADDERS(flt, k_flt_at, float)
ADDERS(dbl, k_dbl_at, double)
COMPLEX_ADDERS(cpl, k_flt_at, float, flt_plain)
COMPLEX_ADDERS(dcp, k_dbl_at, double, dbl_plain)

/* is_one tells whether the scale of the given type is exactly 1. */
static int is_one(int type, const void *scale)
{
	const k_flt_at *f = scale;
	const k_dbl_at *d = scale;

	switch (type) {
	case K_INT: return *(const k_int_at *)scale == 1;
	case K_LNG: return *(const k_lng_at *)scale == 1;
	case K_FLT: return f[0] == 1;
	case K_DBL: return d[0] == 1;
	case K_CPL: return f[0] == 1 && f[1] == 0;
	case K_DCP: return d[0] == 1 && d[1] == 0;
	default: return 0;
	}
}

k_adder k_adder_for(int type, const void *scale)
{
	static const k_adder table[][2] = {
		[K_INT] = { int_scaled, int_plain }, [K_LNG] = { lng_scaled, lng_plain },
		[K_FLT] = { flt_scaled, flt_plain }, [K_DBL] = { dbl_scaled, dbl_plain },
		[K_CPL] = { cpl_scaled, cpl_plain }, [K_DCP] = { dcp_scaled, dcp_plain },
	};

	if (type < 0 || type > K_DCP)
		return NULL;
	return table[type][is_one(type, scale)];
}

void k_acc_raw(int type, const void *scale, void *dst, const void *src, size_t nbytes)
{
	k_adder add = k_adder_for(type, scale);

	if (add)
		add(dst, src, scale, nbytes / k_small_size(type));
}
