// SPDX-License-Identifier: BSD-3-Clause
// The operators of MG on one rank's part of a grid. They have the symmetry of the cube, so a
// point's 26 neighbours are summed by rows first: sums across the row are computed once and used
// three times along it. No communication here.
#include <string.h>

#include "mg.h"

// The four rows beside a row, and the four diagonally beside it.
struct around {
	const double *c, *f[4], *e[4];
};

static struct around around(const double *x, size_t at, size_t row, size_t plane)
{
	const double *c = x + at;
	return (struct around){
		c,
		{c - row, c + row, c - plane, c + plane},
		{c - plane - row, c - plane + row, c + plane - row, c + plane + row},
	};
}

// Sums of both over the first `count` points of the row.
static inline void across(const struct around *a, size_t count, double *restrict faces,
	double *restrict edges)
{
	const double *f0 = a->f[0], *f1 = a->f[1], *f2 = a->f[2], *f3 = a->f[3];
	const double *e0 = a->e[0], *e1 = a->e[1], *e2 = a->e[2], *e3 = a->e[3];
	for (size_t i = 0; i < count; i++) {
		faces[i] = f0[i] + f1[i] + f2[i] + f3[i];
		edges[i] = e0[i] + e1[i] + e2[i] + e3[i];
	}
}

void resid(const double *u, const double *v, double *r, const int *n)
{
	const double centre = -8.0 / 3, edge = 1.0 / 6, corner = 1.0 / 12; // faces: 0
	size_t width = row(n), depth = plane(n), last = width - 1;
	double f[width], e[width];
	for (size_t k = 1; k <= (size_t)n[2]; k++)
		for (size_t j = 1; j <= (size_t)n[1]; j++) {
			size_t at = k * depth + j * width;
			struct around a = around(u, at, width, depth);
			const double *c = a.c, *from = v + at;
			double *to = r + at;
			across(&a, width, f, e);
#pragma GCC ivdep
			for (size_t i = 1; i < last; i++)
				to[i] = from[i] - centre * c[i] -
					edge * (e[i] + f[i - 1] + f[i + 1]) -
					corner * (e[i - 1] + e[i + 1]);
		}
}

void psinv(const double *r, double *u, const int *n, const double *s)
{
	const double centre = s[0], side = s[1], edge = s[2]; // corners: 0
	size_t width = row(n), depth = plane(n), last = width - 1;
	double f[width], e[width];
	for (size_t k = 1; k <= (size_t)n[2]; k++)
		for (size_t j = 1; j <= (size_t)n[1]; j++) {
			size_t at = k * depth + j * width;
			struct around a = around(r, at, width, depth);
			const double *c = a.c;
			double *to = u + at;
			across(&a, width, f, e);
#pragma GCC ivdep
			for (size_t i = 1; i < last; i++)
				to[i] += centre * c[i] + side * (c[i - 1] + c[i + 1] + f[i]) +
					edge * (e[i] + f[i - 1] + f[i + 1]);
		}
}

void rprj3(const double *fine, const int *nf, double *coarse, const int *n)
{
	size_t width = row(nf), depth = plane(nf);
	double f[width], e[width];
	for (size_t k = 1; k <= (size_t)n[2]; k++)
		for (size_t j = 1; j <= (size_t)n[1]; j++) {
			struct around a = around(fine, 2 * k * depth + 2 * j * width, width, depth);
			const double *c = a.c;
			double *to = coarse + k * plane(n) + j * row(n);
			across(&a, width, f, e);
#pragma GCC ivdep
			for (size_t i = 1; i <= (size_t)n[0]; i++)
				to[i] = 0.5 * c[2 * i] +
					0.25 * (c[2 * i - 1] + c[2 * i + 1] + f[2 * i]) +
					0.125 * (f[2 * i - 1] + f[2 * i + 1] + e[2 * i]) +
					0.0625 * (e[2 * i - 1] + e[2 * i + 1]);
		}
}

// A row of the fine grid: what is at coarse points, scaled, and means of them in between.
static inline void spread(const double *z, size_t count, double scale, double *fine)
{
	for (size_t i = 0; i < count; i++) {
		fine[2 * i] += scale * z[i];
		fine[2 * i + 1] += 0.5 * scale * (z[i] + z[i + 1]);
	}
}

void interp(const double *coarse, const int *nc, double *fine, const int *n)
{
	size_t width = row(nc), depth = plane(nc), count = width - 1;
	double y[width], z[width], yz[width];
	for (size_t k = 0; k <= (size_t)nc[2]; k++)
		for (size_t j = 0; j <= (size_t)nc[1]; j++) {
			const double *c = coarse + k * depth + j * width;
			double *to = fine + 2 * k * plane(n) + 2 * j * row(n);
			for (size_t i = 0; i < width; i++) {
				y[i] = c[i] + c[width + i];
				z[i] = c[i] + c[depth + i];
				yz[i] = y[i] + c[depth + i] + c[depth + width + i];
			}
			spread(c, count, 1, to);
			spread(y, count, 0.5, to + row(n));
			spread(z, count, 0.5, to + plane(n));
			spread(yz, count, 0.25, to + plane(n) + row(n));
		}
}

double squares(const double *r, const int *n)
{
	double sum = 0;
	for (size_t k = 1; k <= (size_t)n[2]; k++)
		for (size_t j = 1; j <= (size_t)n[1]; j++) {
			const double *c = r + k * plane(n) + j * row(n);
			for (size_t i = 1; i <= (size_t)n[0]; i++) sum += c[i] * c[i];
		}
	return sum;
}
