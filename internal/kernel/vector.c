/*
 * vector.c - copies lists of equally long segments. Must not do arithmetic on data.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kernel.h"

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
