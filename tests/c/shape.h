// SPDX-License-Identifier: BSD-3-Clause
// shape.h - random strided shapes and a plain walk over them, as the model that the library's
// strided calls are checked against. It must stay simple and slow: no merging of rows, no tricks,
// no ARMCI call.
#ifndef SHAPE_H
#define SHAPE_H

#include "check.h"

enum { SHAPE_LEVELS = 8 };

struct shape {
	int levels;
	int count[SHAPE_LEVELS + 1];  // count[0] in bytes, the others in blocks
	int src[SHAPE_LEVELS];        // strides in bytes
	int dst[SHAPE_LEVELS];
	long src_extent, dst_extent;  // bytes from the first to behind the last byte touched
	long volume;                  // bytes moved
};

// Strides for the counts: each a little larger than what it steps over, so seldom multiples of each
// other. unit keeps them on element boundaries. Returns the extent.
static inline long shape_strides(uint64_t *rng, const struct shape *s, int unit, int stride[])
{
	long extent = s->count[0];
	for (int i = 0; i < s->levels; i++) {
		stride[i] = (int)extent + unit * check_between(rng, 0, 5);
		if (stride[i] % unit)
			stride[i] += unit - stride[i] % unit;
		extent += (long)stride[i] * (s->count[i + 1] - 1);
	}
	return extent;
}

// A random shape of the given levels, rows of whole elements of unit bytes.
static inline struct shape shape_random(uint64_t *rng, int levels, int unit)
{
	struct shape s = {.levels = levels};
	s.count[0] = unit * check_between(rng, 1, levels > 4 ? 6 : 40);
	s.volume = s.count[0];
	for (int i = 1; i <= levels; i++) {
		s.count[i] = check_between(rng, 1, levels > 4 ? 3 : 6);
		if (s.volume * s.count[i] > 20000)
			s.count[i] = 1;
		s.volume *= s.count[i];
	}
	s.src_extent = shape_strides(rng, &s, unit, s.src);
	s.dst_extent = shape_strides(rng, &s, unit, s.dst);
	return s;
}

// Steps the odometer idx[1..levels]; 0 when it is through.
static inline int shape_next(const struct shape *s, int idx[])
{
	for (int i = 1; i <= s->levels; i++) {
		if (++idx[i] < s->count[i])
			return 1;
		idx[i] = 0;
	}
	return 0;
}

// Offset of the row at idx with these strides.
static inline long shape_offset(const struct shape *s, const int idx[], const int stride[])
{
	long off = 0;
	for (int i = 1; i <= s->levels; i++)
		off += (long)idx[i] * stride[i - 1];
	return off;
}

// Called for every row: byte offsets at the two sides and the row's length.
typedef void (*shape_row)(void *arg, long src, long dst, int bytes);

static inline void shape_walk(const struct shape *s, shape_row row, void *arg)
{
	int idx[SHAPE_LEVELS + 1] = {0};
	do {
		row(arg, shape_offset(s, idx, s->src), shape_offset(s, idx, s->dst), s->count[0]);
	} while (shape_next(s, idx));
}

// Two memories between which a model copies.
struct shape_pair {
	const unsigned char *src;
	unsigned char *dst;
};

static inline void shape_copy_row(void *arg, long src, long dst, int bytes)
{
	struct shape_pair *p = arg;
	memcpy(p->dst + dst, p->src + src, (size_t)bytes);
}

// The model of a strided copy.
static inline void shape_copy(const struct shape *s, const void *src, void *dst)
{
	struct shape_pair p = {src, dst};
	shape_walk(s, shape_copy_row, &p);
}

#endif
