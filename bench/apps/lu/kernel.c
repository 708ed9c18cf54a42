// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic on blocks, which is the same for all versions. Almost all time is in block_update:
// it keeps 4 x 8 elements of the result in registers while it goes through the inner dimension. On
// x86-64 the compiler makes each function for processors with AVX and FMA, too, and the loader
// chooses.
#include "lu.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_PROCESSORS __attribute__((target_clones("default", "fma"), optimize("O3")))
#else
#define FOR_PROCESSORS
#endif

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

FOR_PROCESSORS void block_factor(double *a, int b)
{
	for (int k = 0; k < b; k++) {
		double inverse = 1 / a[k * b + k];
		for (int i = k + 1; i < b; i++) {
			double f = a[i * b + k] *= inverse;
			for (int j = k + 1; j < b; j++) a[i * b + j] -= f * a[k * b + j];
		}
	}
}

FOR_PROCESSORS void block_solve_right(double *restrict a, const double *restrict d, int b)
{
	for (int k = 0; k < b; k++) {
		double inverse = 1 / d[k * b + k];
		for (int i = 0; i < b; i++) {
			double f = a[i * b + k] *= inverse;
			for (int j = k + 1; j < b; j++) a[i * b + j] -= f * d[k * b + j];
		}
	}
}

FOR_PROCESSORS void block_solve_left(double *restrict a, const double *restrict d, int b)
{
	for (int k = 0; k < b; k++)
		for (int i = k + 1; i < b; i++) {
			double f = d[i * b + k];
			for (int j = 0; j < b; j++) a[i * b + j] -= f * a[k * b + j];
		}
}

FOR_PROCESSORS void block_update(double *restrict c, const double *restrict a,
	const double *restrict p, int b)
{
	for (int i = 0; i < b; i += 4)
		for (int j = 0; j < b; j += 8) {
			four *c0 = (four *)(c + i * b + j), *c1 = (four *)((double *)c0 + b),
			     *c2 = (four *)((double *)c1 + b), *c3 = (four *)((double *)c2 + b);
			four s0 = c0[0], t0 = c0[1], s1 = c1[0], t1 = c1[1], s2 = c2[0], t2 = c2[1],
			     s3 = c3[0], t3 = c3[1];
			const double *f = a + i * b;
			for (int k = 0; k < b; k++, f++) {
				const four *q = (const four *)(p + k * b + j);
				four s = q[0], t = q[1];
				s0 -= f[0] * s;
				t0 -= f[0] * t;
				s1 -= f[b] * s;
				t1 -= f[b] * t;
				s2 -= f[2 * b] * s;
				t2 -= f[2 * b] * t;
				s3 -= f[3 * b] * s;
				t3 -= f[3 * b] * t;
			}
			c0[0] = s0, c0[1] = t0, c1[0] = s1, c1[1] = t1, c2[0] = s2, c2[1] = t2,
			c3[0] = s3, c3[1] = t3;
		}
}
