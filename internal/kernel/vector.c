/*
 * vector.c - lists of equally long segments: copies them, finds where they lie. Must not do arithmetic on data.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kernel.h"

#include "clones.h"

/* K_SEGMENTS_FIXED copies segments of a constant size. */
#define K_SEGMENTS_FIXED(size)                           \
	for (size_t i = 0; i < n; i++)                   \
		memcpy(dst[i], src[i], (size));          \
	break

void k_copy_vector(void *const *src, void *const *dst, size_t bytes, size_t n)
{
	switch (bytes) {
	case 0: break;
	case 4: K_SEGMENTS_FIXED(4);
	case 8: K_SEGMENTS_FIXED(8);
	case 16: K_SEGMENTS_FIXED(16);
	case 24: K_SEGMENTS_FIXED(24);
	case 32: K_SEGMENTS_FIXED(32);
	case 64: K_SEGMENTS_FIXED(64);
	default:
		for (size_t i = 0; i < n; i++)
			k_copy(dst[i], src[i], bytes);
	}
}

K_CLONES void k_span(void *const *p, size_t n, int64_t *lowest, int64_t *highest)
{
	int64_t lo = INT64_MAX, hi = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		int64_t a = (int64_t)(intptr_t)p[i];

		lo = a < lo ? a : lo;
		hi = a > hi ? a : hi;
	}
	*lowest = lo;
	*highest = hi;
}
