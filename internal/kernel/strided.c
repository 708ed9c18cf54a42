/*
 * strided.c - copies strided shapes: place to place, place to buffer, buffer to place. Must not do
 * arithmetic on data.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The inner loop is a plane: n rows of one size. Usual row sizes have a loop of their own, in which
 * a row is one or a few moves; one level of strides goes straight to it, anything else is first
 * brought into its normal form.
 */
#include "blocks.h"
#include "clones.h"
#include "walk.h"

/* K_ROWS_FIXED copies rows of a constant size. */
#define K_ROWS_FIXED(size)                               \
	for (; n > 0; n--, d += dstep, s += sstep)       \
		memcpy(d, s, (size));                    \
	break

/* Rows of 65 to ROW_MAX bytes: blocks from the front, and one block that ends where the row ends.
 * Longer ones are worth the trouble of aligning the destination. */
enum { ROW_MAX = 192 };

K_CLONES static void plane_of_blocks(char *d, int64_t dstep, const char *s, int64_t sstep,
	size_t row, int64_t n)
{
	size_t last = row - K_BLOCK;

	for (; n > 0; n--, d += dstep, s += sstep) {
		for (size_t o = 0; o < last; o += K_BLOCK)
			k_move(d + o, s + o, 0);
		k_move(d + last, s + last, 0);
	}
}

K_CLONES static void plane_of_long_rows(char *d, int64_t dstep, const char *s, int64_t sstep,
	size_t row, int64_t n)
{
	for (; n > 0; n--, d += dstep, s += sstep)
		k_blocks(d, s, row);
}

void k_plane(char *d, int64_t dstep, const char *s, int64_t sstep, size_t row, int64_t n)
{
	switch (row) {
	case 1: K_ROWS_FIXED(1);
	case 2: K_ROWS_FIXED(2);
	case 4: K_ROWS_FIXED(4);
	case 8: K_ROWS_FIXED(8);
	case 16: K_ROWS_FIXED(16);
	case 24: K_ROWS_FIXED(24);
	case 32: K_ROWS_FIXED(32);
	case 64: K_ROWS_FIXED(64);
	default:
		if (row <= 64) {
			for (; n > 0; n--, d += dstep, s += sstep)
				k_copy(d, s, row);
		} else if (row <= ROW_MAX) {
			plane_of_blocks(d, dstep, s, sstep, row, n);
		} else if (row <= K_BLOCKS_MAX) {
			plane_of_long_rows(d, dstep, s, sstep, row, n);
		} else {
			for (; n > 0; n--, d += dstep, s += sstep)
				memcpy(d, s, row);
		}
	}
}

/* walk_copy copies all rows of a walk from place a to place b. */
static void walk_copy(const struct k_walk *w, const char *a, char *b)
{
	int64_t idx[K_MAX_LEVELS] = { 0 }, aoff = 0, boff = 0;

	if (w->levels == 0) {
		k_copy(b, a, (size_t)w->row); /* one row, or none */
		return;
	}
	do
		k_plane(b + boff, w->b[0], a + aoff, w->a[0], (size_t)w->row, w->count[0]);
	while (k_walk_step(w, idx, &aoff, &boff));
}

void k_copy_strided(const void *src, const int *sstride, void *dst, const int *dstride,
	const int *count, int levels)
{
	struct k_walk w;

	if (levels == 1 && count[0] > 0 && (sstride[0] != count[0] || dstride[0] != count[0])) {
		k_plane(dst, dstride[0], src, sstride[0], (size_t)count[0], count[1]);
		return;
	}
	k_walk_init(&w, sstride, dstride, count, levels);
	walk_copy(&w, src, dst);
}

void k_pack(const void *src, const int *stride, const int *count, int levels, void *buf)
{
	struct k_walk w;

	k_walk_init(&w, stride, NULL, count, levels);
	walk_copy(&w, src, buf);
}

void k_unpack(void *dst, const int *stride, const int *count, int levels, const void *buf)
{
	struct k_walk w;

	k_walk_init(&w, NULL, stride, count, levels);
	walk_copy(&w, buf, dst);
}
