// SPDX-License-Identifier: BSD-3-Clause
// What the versions of the transpose share: the matrices and the transposition of a patch in
// memory.
#ifndef TRANSPOSE_H
#define TRANSPOSE_H

#include "app.h"

// Two n x n matrices by block rows: rank r has the rows r * rows to (r + 1) * rows - 1 of each, one
// behind the other.
struct transpose {
	int n, rows, rounds;
	void **a, **b; // where each rank has its rows
	double *out, *in; // of messages: as many rows
	double *slices[2]; // of one-sided transfers: SLICE rows of a block
};

enum { SLICE = 64 }; // columns of a block that are transposed, or rows that are fetched, at a time

// to[j][i] = from[i][j] for a patch of rows x columns; the strides are in elements.
void transpose_patch(const double *from, int from_stride, double *to, int to_stride, int rows,
	int columns);

// One round each: the rows of `to` become those of the transpose of `from`. Barriers are between
// the rounds.
void round_mpi(struct transpose *t, void **from, void **to);
void round_mpi_types(struct transpose *t, void **from, void **to);
void round_get(struct transpose *t, void **from, void **to);
void round_put(struct transpose *t, void **from, void **to);

#endif
