/*
 * copy.h - the inline copy of kernel.h. Included by kernel.h only; must not call anything but
 * memcpy and k_copy_blocks.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Up to 16 bytes: every byte is loaded once and stored once, and 1, 2, 4 or 8 bytes are one load
 * and one store. (A flag that is stored twice comes back after a reader has taken it; one that is
 * stored in two halves is seen half.) 17 to 64 bytes go by at most four loads and four stores: the
 * head and the tail of the block, which may overlap each other. All loads come before the first
 * store. A memcpy of constant size is one unaligned move. Between K_BLOCKS_MIN and K_BLOCKS_MAX our
 * own loop makes fewer stores than libc's memcpy, which pays for our checks.
 */
#ifndef LIBARMCI_KERNEL_COPY_H
#define LIBARMCI_KERNEL_COPY_H

#include <string.h>

struct k_b16 {
	uint64_t w[2];
};

/* K_ENDS copies n bytes, sizeof(T) <= n <= 2 * sizeof(T), as first and last T. */
#define K_ENDS(T, d, s, n)                                   \
	do {                                                 \
		T head_, tail_;                              \
		memcpy(&head_, (s), sizeof(T));              \
		memcpy(&tail_, (s) + (n) - sizeof(T), sizeof(T)); \
		memcpy((d), &head_, sizeof(T));              \
		memcpy((d) + (n) - sizeof(T), &tail_, sizeof(T)); \
	} while (0)

/* k_copy_33_64 copies 33 to 64 bytes as two blocks of 16 from each end. */
static inline void k_copy_33_64(char *d, const char *s, size_t n)
{
	struct k_b16 a, b, y, z;

	memcpy(&a, s, 16);
	memcpy(&b, s + 16, 16);
	memcpy(&y, s + n - 32, 16);
	memcpy(&z, s + n - 16, 16);
	memcpy(d, &a, 16);
	memcpy(d + 16, &b, 16);
	memcpy(d + n - 32, &y, 16);
	memcpy(d + n - 16, &z, 16);
}

/* K_ONE copies one T. */
#define K_ONE(T, d, s)                         \
	do {                                   \
		T one_;                        \
		memcpy(&one_, (s), sizeof(T)); \
		memcpy((d), &one_, sizeof(T)); \
	} while (0)

/* k_copy_0_16 copies 0 to 16 bytes. The usual sizes come first; any other is its powers of two,
 * largest first. */
static inline void k_copy_0_16(char *d, const char *s, size_t n)
{
	size_t at = 0;

	if (n == 8) {
		K_ONE(uint64_t, d, s);
	} else if (n == 4) {
		K_ONE(uint32_t, d, s);
	} else if (n == 16) {
		K_ENDS(uint64_t, d, s, n);
	} else {
		if (n & 8) {
			K_ONE(uint64_t, d, s);
			at = 8;
		}
		if (n & 4) {
			K_ONE(uint32_t, d + at, s + at);
			at += 4;
		}
		if (n & 2) {
			K_ONE(uint16_t, d + at, s + at);
			at += 2;
		}
		if (n & 1)
			d[at] = s[at];
	}
}

/* k_copy_more copies more than 64 bytes. */
static inline void k_copy_more(char *d, const char *s, size_t n)
{
	if (n >= K_BLOCKS_MIN && n <= K_BLOCKS_MAX)
		k_copy_blocks(d, s, n);
	else
		memcpy(d, s, n);
}

static inline void k_copy(void *dst, const void *src, size_t n)
{
	char       *d = dst;
	const char *s = src;

	if (__builtin_expect(n > 64, 0))
		k_copy_more(d, s, n);
	else if (n <= 16)
		k_copy_0_16(d, s, n);
	else if (n <= 32)
		K_ENDS(struct k_b16, d, s, n);
	else
		k_copy_33_64(d, s, n);
}

#endif
