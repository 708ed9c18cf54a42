/*
 * vector.c - lists of equally long segments: copies and packs them, finds where they lie. Must not
 * do arithmetic on data.
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
	case 1: K_SEGMENTS_FIXED(1);
	case 2: K_SEGMENTS_FIXED(2);
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

/* K_PACKED_OF copies n segments of one size from or to contiguous memory, at which `at` points. */
#define K_PACKED_OF(size, copy, to, from)            \
	for (size_t i = 0; i < n; i++, at += (size)) \
		copy((to), (from), (size));          \
	break

/* K_PACKED does so with constant sizes where it matters. */
#define K_PACKED(to, from)                                \
	switch (bytes) {                                  \
	case 0: break;                                    \
	case 1: K_PACKED_OF(1, memcpy, to, from);         \
	case 2: K_PACKED_OF(2, memcpy, to, from);         \
	case 4: K_PACKED_OF(4, memcpy, to, from);         \
	case 8: K_PACKED_OF(8, memcpy, to, from);         \
	case 16: K_PACKED_OF(16, memcpy, to, from);       \
	default: K_PACKED_OF(bytes, k_copy, to, from);    \
	}

void k_pack_vector(void *const *src, size_t bytes, size_t n, void *buf)
{
	char *at = buf;

	K_PACKED(at, src[i])
}

void k_unpack_vector(void *const *dst, size_t bytes, size_t n, const void *buf)
{
	const char *at = buf;

	K_PACKED(dst[i], at)
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
