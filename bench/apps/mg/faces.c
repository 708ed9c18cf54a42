// SPDX-License-Identifier: BSD-3-Clause
// Faces of a rank's part of a grid: copied around where one rank has the whole axis, and packed for
// messages.
#include <string.h>

#include "mg.h"

// A face as j x k rows of `length` points: row (j, k) begins at `first` + j * row + k * plane.
struct rows {
	size_t first, length;
	int j, k;
};

static struct rows rows(const int *n, int axis, int i)
{
	size_t at = (size_t)i;
	switch (axis) {
	case 0: return (struct rows){plane(n) + row(n) + at, 1, n[1], n[2]};
	case 1: return (struct rows){plane(n) + at * row(n), row(n), 1, n[2]};
	default: return (struct rows){at * plane(n), plane(n), 1, 1};
	}
}

size_t face(const int *n, int axis)
{
	struct rows f = rows(n, axis, 0);
	return f.length * (size_t)f.j * (size_t)f.k;
}

// A row of a face; single points are worth no call.
static inline void copy_row(double *to, const double *from, size_t length)
{
	if (length == 1)
		*to = *from;
	else
		memcpy(to, from, length * sizeof *to);
}

void pack(const double *x, const int *n, int axis, int i, double *out)
{
	struct rows f = rows(n, axis, i);
	for (int k = 0; k < f.k; k++)
		for (int j = 0; j < f.j; j++, out += f.length)
			copy_row(out, x + f.first + (size_t)k * plane(n) + (size_t)j * row(n),
				f.length);
}

void unpack(double *x, const int *n, int axis, int i, const double *in)
{
	struct rows f = rows(n, axis, i);
	for (int k = 0; k < f.k; k++)
		for (int j = 0; j < f.j; j++, in += f.length)
			copy_row(x + f.first + (size_t)k * plane(n) + (size_t)j * row(n), in,
				f.length);
}

static void copy(double *x, const int *n, int axis, int from, int to)
{
	struct rows a = rows(n, axis, from), b = rows(n, axis, to);
	for (int k = 0; k < a.k; k++)
		for (int j = 0; j < a.j; j++) {
			size_t at = (size_t)k * plane(n) + (size_t)j * row(n);
			copy_row(x + b.first + at, x + a.first + at, a.length);
		}
}

void wrap(double *x, const int *n, int axis)
{
	copy(x, n, axis, n[axis], 0);
	copy(x, n, axis, 1, n[axis] + 1);
}
