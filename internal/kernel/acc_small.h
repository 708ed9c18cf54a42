/*
 * acc_small.h - the inline one-element accumulate of kernel.h. Included by kernel.h only; it never
 * waits for a lock.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Values go through memcpy because user addresses may be unaligned; integers are added unsigned so
 * that they wrap.
 */
#ifndef LIBARMCI_KERNEL_ACC_SMALL_H
#define LIBARMCI_KERNEL_ACC_SMALL_H

#include <string.h>

/* k_stripe_word gives the lock word of the stripe that an address belongs to. */
static inline k_lock_word *k_stripe_word(const struct k_stripes *st, const void *addr)
{
	size_t stripe = ((uintptr_t)addr >> K_STRIPE_SHIFT) & st->mask;

	return st->word + stripe * st->pitch_words;
}

/* k_try_lock takes a lock word if it is free: 1 if taken by this call, else 0. */
static inline int k_try_lock(k_lock_word *word, uint32_t owner)
{
	uint32_t none = 0;

	return atomic_compare_exchange_strong_explicit(word, &none, owner, memory_order_acquire,
		memory_order_relaxed);
}

/* k_unlock frees a lock word held by the caller. */
static inline void k_unlock(k_lock_word *word)
{
	atomic_store_explicit(word, 0, memory_order_release);
}

/* K_ROUND rounds a product before it is used, so that no compiler fuses it with the addition that
 * follows. */
#if defined(__x86_64__)
#define K_ROUND(p) __asm__("" : "+x"(p))
#elif defined(__aarch64__)
#define K_ROUND(p) __asm__("" : "+w"(p))
#else
#define K_ROUND(p) __asm__("" : "+m"(p))
#endif

/* K_ADD_ONE_INT defines NAME(dst, src, scale) for one element of integer type T, computed as
 * unsigned. */
#define K_ADD_ONE_INT(NAME, T)                                                 \
	static inline void NAME(void *dst, const void *src, const void *scale) \
	{                                                                      \
		T x, y, s;                                                     \
		memcpy(&x, dst, sizeof x);                                     \
		memcpy(&y, src, sizeof y);                                     \
		memcpy(&s, scale, sizeof s);                                   \
		x += s * y;                                                    \
		memcpy(dst, &x, sizeof x);                                     \
	}

/* K_ADD_ONE_REAL is the same for a floating type. */
#define K_ADD_ONE_REAL(NAME, T)                                                \
	static inline void NAME(void *dst, const void *src, const void *scale) \
	{                                                                      \
		T x, y, s;                                                     \
		memcpy(&x, dst, sizeof x);                                     \
		memcpy(&y, src, sizeof y);                                     \
		memcpy(&s, scale, sizeof s);                                   \
		y *= s;                                                        \
		K_ROUND(y);                                                    \
		x += y;                                                        \
		memcpy(dst, &x, sizeof x);                                     \
	}

/* K_ADD_ONE_COMPLEX is the same for a pair of T. A scale of 1+0i adds without multiplying, as k_acc
 * does. */
#define K_ADD_ONE_COMPLEX(NAME, T)                                             \
	static inline void NAME(void *dst, const void *src, const void *scale) \
	{                                                                      \
		T x[2], y[2], s[2];                                            \
		memcpy(x, dst, sizeof x);                                      \
		memcpy(y, src, sizeof y);                                      \
		memcpy(s, scale, sizeof s);                                    \
		if (s[0] != 1 || s[1] != 0) {                                  \
			T rr = s[0] * y[0], ii = s[1] * y[1];                  \
			T ri = s[0] * y[1], ir = s[1] * y[0];                  \
			K_ROUND(rr);                                           \
			K_ROUND(ii);                                           \
			K_ROUND(ri);                                           \
			K_ROUND(ir);                                           \
			y[0] = rr - ii;                                        \
			y[1] = ri + ir;                                        \
		}                                                              \
		x[0] += y[0];                                                  \
		x[1] += y[1];                                                  \
		memcpy(dst, x, sizeof x);                                      \
	}

K_ADD_ONE_INT(k_add_one_int, unsigned)
K_ADD_ONE_INT(k_add_one_lng, unsigned long)
K_ADD_ONE_REAL(k_add_one_flt, float)
K_ADD_ONE_REAL(k_add_one_dbl, double)
K_ADD_ONE_COMPLEX(k_add_one_cpl, float)
K_ADD_ONE_COMPLEX(k_add_one_dcp, double)

/* k_small_size gives the element size of an accumulate type, 0 if there is none. */
static inline size_t k_small_size(int type)
{
	switch (type) {
	case K_INT: return sizeof(int);
	case K_LNG: return sizeof(long);
	case K_FLT: return sizeof(float);
	case K_DBL: return sizeof(double);
	case K_CPL: return 2 * sizeof(float);
	case K_DCP: return 2 * sizeof(double);
	default: return 0;
	}
}

static inline int k_acc_small(const struct k_stripes *st, int type, const void *scale, void *dst,
	const void *src, size_t nbytes)
{
	k_lock_word *word = k_stripe_word(st, dst);

	if (nbytes == 0 || nbytes != k_small_size(type) || st->device ||
		!k_try_lock(word, st->owner))
		return 0;
	switch (type) {
	case K_INT: k_add_one_int(dst, src, scale); break;
	case K_LNG: k_add_one_lng(dst, src, scale); break;
	case K_FLT: k_add_one_flt(dst, src, scale); break;
	case K_DBL: k_add_one_dbl(dst, src, scale); break;
	case K_CPL: k_add_one_cpl(dst, src, scale); break;
	case K_DCP: k_add_one_dcp(dst, src, scale); break;
	}
	k_unlock(word);
	return 1;
}

#endif
