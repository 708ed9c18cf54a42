// SPDX-License-Identifier: BSD-3-Clause
// The transposition of a patch in memory, by tiles of some cache lines each way.
#include "transpose.h"

enum { TILE = 16 };

void transpose_patch(const double *from, int from_stride, double *to, int to_stride, int rows,
	int columns)
{
	size_t fs = (size_t)from_stride, ts = (size_t)to_stride;
	for (int i0 = 0; i0 < rows; i0 += TILE)
		for (int j0 = 0; j0 < columns; j0 += TILE) {
			int i1 = i0 + TILE < rows ? i0 + TILE : rows,
			    j1 = j0 + TILE < columns ? j0 + TILE : columns;
			for (int j = j0; j < j1; j++)
				for (int i = i0; i < i1; i++)
					to[(size_t)j * ts + (size_t)i] =
						from[(size_t)i * fs + (size_t)j];
		}
}
