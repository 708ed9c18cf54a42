/*
 * walk.c - strided shapes as such: volume, extent, normal form. Must not touch the memory that a
 * shape describes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts and strides are ints, but their products are not: everything is 64-bit here, and volume
 * and extent saturate so that absurd shapes are found by a comparison and never by wrapping around.
 */
#include "walk.h"

int64_t k_volume(const int *count, int levels)
{
	int64_t volume = 1;

	for (int i = 0; i <= levels; i++)
		if (count[i] <= 0)
			return 0;
	for (int i = 0; i <= levels; i++)
		if (__builtin_mul_overflow(volume, (int64_t)count[i], &volume))
			return INT64_MAX;
	return volume;
}

int64_t k_extent(const int *stride, const int *count, int levels, int64_t *lo, int64_t *hi)
{
	int64_t volume = count[0], low = 0, high = count[0];
	int     empty = count[0] <= 0;

	for (int i = 0; i < levels; i++) {
		/* below 2^62: at most 8 of them may overflow */
		int64_t n = count[i + 1], reach = stride[i] * (n - 1);

		empty |= n <= 0;
		if (__builtin_mul_overflow(volume, n, &volume))
			volume = INT64_MAX;
		if (reach < 0 && __builtin_add_overflow(low, reach, &low))
			low = INT64_MIN;
		else if (reach > 0 && __builtin_add_overflow(high, reach, &high))
			high = INT64_MAX;
	}
	*lo = empty ? 0 : low;
	*hi = empty ? 0 : high;
	return empty ? 0 : volume;
}

/* follows tells whether step continues where n steps of `prev` end. */
static int follows(int64_t step, int64_t prev, int64_t n)
{
	int64_t end;

	return !__builtin_mul_overflow(prev, n, &end) && step == end;
}

/* add_level appends n blocks with steps a and b, or lets an existing level or the row absorb them.
 */
static void add_level(struct k_walk *w, int64_t n, int64_t a, int64_t b)
{
	int     i = w->levels;
	int64_t merged;

	if (n == 1)
		return;
	if (i == 0 && a == w->row && b == w->row && !__builtin_mul_overflow(w->row, n, &merged)) {
		w->row = merged;
		return;
	}
	if (i > 0 && follows(a, w->a[i - 1], w->count[i - 1]) &&
		follows(b, w->b[i - 1], w->count[i - 1]) &&
		!__builtin_mul_overflow(w->count[i - 1], n, &merged)) {
		w->count[i - 1] = merged;
		return;
	}
	w->count[i] = n;
	w->a[i] = a;
	w->b[i] = b;
	w->levels = i + 1;
}

void k_walk_init(struct k_walk *w, const int *astride, const int *bstride, const int *count,
	int levels)
{
	int64_t dense = count[0];

	w->levels = 0;
	w->row = 0;
	w->count[0] = 1;
	w->a[0] = w->b[0] = 0;
	for (int i = 0; i <= levels; i++)
		if (count[i] <= 0)
			return;
	w->row = count[0];
	for (int i = 0; i < levels; i++) {
		add_level(w, count[i + 1], astride ? astride[i] : dense,
			bstride ? bstride[i] : dense);
		if (__builtin_mul_overflow(dense, (int64_t)count[i + 1], &dense))
			dense = INT64_MAX; /* no such buffer exists */
	}
}
