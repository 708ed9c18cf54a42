// SPDX-License-Identifier: BSD-3-Clause
// Faces of a rank's part of a grid: copied around where one rank has the whole axis, and packed for messages.
#include <string.h>

#include "mg.h"

// A face as rows: `count` of them, each of `length` points; point 0 of row (j, k) is at `first` + j * row + k * plane.
struct rows {
	size_t first, length;
	int j, k; // how many each way
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

void pack(const double *x, const int *n, int axis, int i, double *out)
{
	struct rows f = rows(n, axis, i);
	for (int k = 0; k < f.k; k++)
		for (int j = 0; j < f.j; j++, out += f.length) {
			const double *from = x + f.first + (size_t)k * plane(n) + (size_t)j * row(n);
			if (f.length == 1)
				*out = *from;
			else
				memcpy(out, from, f.length * sizeof *out);
		}
}

void unpack(double *x, const int *n, int axis, int i, const double *in)
{
	struct rows f = rows(n, axis, i);
	for (int k = 0; k < f.k; k++)
		for (int j = 0; j < f.j; j++, in += f.length) {
			double *to = x + f.first + (size_t)k * plane(n) + (size_t)j * row(n);
			if (f.length == 1)
				*to = *in;
			else
				memcpy(to, in, f.length * sizeof *in);
		}
}

static void copy(double *x, const int *n, int axis, int from, int to)
{
	struct rows a = rows(n, axis, from), b = rows(n, axis, to);
	for (int k = 0; k < a.k; k++)
		for (int j = 0; j < a.j; j++) {
			size_t at = (size_t)k * plane(n) + (size_t)j * row(n);
			if (a.length == 1)
				x[b.first + at] = x[a.first + at];
			else
				memcpy(x + b.first + at, x + a.first + at, a.length * sizeof *x);
		}
}

void wrap(double *x, const int *n, int axis)
{
	copy(x, n, axis, n[axis], 0);
	copy(x, n, axis, 1, n[axis] + 1);
}
