/*
 * blocks.h - the loop behind k_copy_blocks, private to this directory. Must be inlined into
 * functions marked K_CLONES only, which decide how wide a move is.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What a copy within the caches costs is its stores. So every store but the first and the last is
 * aligned, none of those crosses a cache line, and an aligned destination takes as few as there are
 * blocks. 32 bytes are one move with AVX2, two without; moves of 64 were no faster, and slower from
 * a source that is not aligned to them.
 */
#ifndef LIBARMCI_KERNEL_BLOCKS_H
#define LIBARMCI_KERNEL_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

enum { K_BLOCK = 32 };

typedef char k_block_at __attribute__((vector_size(32), aligned(1), may_alias));

/* k_move copies block i of those at s to d: one unaligned load and one store. A memcpy would become
 * two of 16 bytes. */
static inline __attribute__((always_inline)) void k_move(char *d, const char *s, int i)
{
	((k_block_at *)d)[i] = ((const k_block_at *)s)[i];
}

/* k_blocks copies n >= K_BLOCK bytes between places that do not overlap. The first and the last
 * block may overlap those between. */
static inline __attribute__((always_inline)) void k_blocks(char *d, const char *s, size_t n)
{
	uintptr_t   skip = K_BLOCK - (uintptr_t)d % K_BLOCK, last = (uintptr_t)d + n - K_BLOCK;
	const char *from = s + n - K_BLOCK;

	k_move(d, s, 0);
	for (d += skip, s += skip; (uintptr_t)d + 3 * K_BLOCK < last;
		d += 4 * K_BLOCK, s += 4 * K_BLOCK) {
		k_move(d, s, 0);
		k_move(d, s, 1);
		k_move(d, s, 2);
		k_move(d, s, 3);
	}
	for (; (uintptr_t)d < last; d += K_BLOCK, s += K_BLOCK)
		k_move(d, s, 0);
	k_move((char *)last, from, 0);
}

#endif
