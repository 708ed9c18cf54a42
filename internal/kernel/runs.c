/*
 * runs.c - lists the contiguous runs of a strided shape, for wires that know only contiguous pieces. Must not touch
 * the memory that the shape describes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "walk.h"

size_t k_nruns(const struct k_shape *shape)
{
	struct k_walk w;
	size_t        n = 1;

	k_walk_init(&w, shape->stride, shape->stride, shape->count, shape->levels);
	if (w.row == 0)
		return 0;
	for (int i = 0; i < w.levels; i++)
		if (__builtin_mul_overflow(n, (size_t)w.count[i], &n))
			return SIZE_MAX;
	return n;
}

/* seek sets idx and the offset to run number `from`: 0 if there is no such run. */
static int seek(const struct k_walk *w, size_t from, int64_t *idx, int64_t *off)
{
	*off = 0;
	for (int i = 0; i < w->levels; i++) {
		idx[i] = (int64_t)(from % (size_t)w->count[i]);
		from /= (size_t)w->count[i];
		*off += idx[i] * w->a[i];
	}
	return w->row > 0 && from == 0;
}

size_t k_runs(const struct k_shape *shape, size_t from, size_t max, struct k_run *out)
{
	struct k_walk w;
	int64_t       idx[K_MAX_LEVELS] = { 0 }, off, unused = 0;
	size_t        n = 0;

	k_walk_init(&w, shape->stride, shape->stride, shape->count, shape->levels);
	if (max == 0 || !seek(&w, from, idx, &off))
		return 0;
	do {
		for (; idx[0] < w.count[0]; idx[0]++, off += w.a[0]) {
			if (n == max)
				return n;
			out[n++] = (struct k_run){ off, w.row };
		}
		off -= w.a[0] * w.count[0];
		idx[0] = 0;
	} while (k_walk_step(&w, idx, &off, &unused));
	return n;
}
