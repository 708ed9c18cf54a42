/*
 * walk.h - the normal form of a strided shape, private to this directory, and the copy of its
 * innermost level.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A walk visits rows of `row` bytes at two places, a and b, at once. Levels of one block are left
 * out, rows that touch on both sides have become one longer row, and two levels that together step
 * evenly have become one.
 */
#ifndef LIBARMCI_KERNEL_WALK_H
#define LIBARMCI_KERNEL_WALK_H

#include "kernel.h"

struct k_walk {
	int64_t row;                  /* bytes per row; 0 if there is nothing to visit */
	int     levels;               /* levels left; with 0 there is one row, and count[0] is 1 */
	int64_t count[K_MAX_LEVELS];  /* rows (level 0) or blocks of the level below */
	int64_t a[K_MAX_LEVELS];      /* bytes from one to the next, at place a */
	int64_t b[K_MAX_LEVELS];      /* the same at place b */
};

#pragma GCC visibility push(hidden)

/* k_walk_init sets up a walk. A NULL stride array means densely packed. */
void k_walk_init(struct k_walk *w, const int *astride, const int *bstride, const int *count,
	int levels);

/* k_plane copies n rows of `row` > 0 bytes (strided.c). */
void k_plane(char *d, int64_t dstep, const char *s, int64_t sstep, size_t row, int64_t n);

#pragma GCC visibility pop

/* k_walk_step moves both offsets to the next position of levels 1 and up, counting in idx: 0 when
 * all were visited. Level 0 is the caller's inner loop. */
static inline int k_walk_step(const struct k_walk *w, int64_t *idx, int64_t *aoff, int64_t *boff)
{
	for (int i = 1; i < w->levels; i++) {
		*aoff += w->a[i];
		*boff += w->b[i];
		if (++idx[i] < w->count[i])
			return 1;
		*aoff -= w->a[i] * w->count[i];
		*boff -= w->b[i] * w->count[i];
		idx[i] = 0;
	}
	return 0;
}

#endif
