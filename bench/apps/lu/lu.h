// SPDX-License-Identifier: BSD-3-Clause
// The matrix in blocks, how they are divided among a grid of ranks, and what is done with a block.
#ifndef LU_H
#define LU_H

#include "app.h"

// A block is b*b elements, row after row, b a multiple of LU_STEP.
enum { LU_STEP = 8, LU_BLOCK_MAX = 256, LU_ORDER_MAX = 16384 };

// How block rows, or block columns, are divided among the rows, or columns, of the grid: by turns
// or in contiguous parts.
struct split {
	int count, parts;
	bool cyclic;
};

int split_most(const struct split *s);     // the most of any part, by turns or not
int split_owner(const struct split *s, int i);
// how many of a part are below i; of its own, the place of i
int split_before(const struct split *s, int part, int i);
int split_index(const struct split *s, int part, int place);

struct lu {
	int n, b;               // order of the matrix and of a block
	size_t area;            // elements of a block
	int rows, columns;      // of the grid
	int row, column;        // mine
	int blocks;             // in a row of the matrix
	struct split by_row, by_column;
	int my_rows, my_columns; // of blocks that are mine
	void **memory;           // of each rank: its blocks, column of blocks after column
};

void lu_make(struct lu *m, int n, int b);
void lu_free(struct lu *m);
// Divides the blocks and sets all elements.
void lu_fill(struct lu *m, bool cyclic);
// Whether L*U is the matrix that was filled in, by the product with a vector. Collective.
bool lu_good(struct lu *m);

static inline int lu_rank(const struct lu *m, int row, int column)
{
	return row * m->columns + column;
}
// The block at these places of a rank, and one of mine.
double *lu_block_of(const struct lu *m, int row, int column, int i, int j);
double *lu_block(const struct lu *m, int i, int j);

// Of the rows (columns) behind k: the first place at a row (column) of the grid, and how many it
// has.
int lu_first_row(const struct lu *m, int row, int k);
int lu_first_column(const struct lu *m, int column, int k);
int lu_rows_left(const struct lu *m, int row, int k);
int lu_columns_left(const struct lu *m, int column, int k);

// Blocks (kernel.c). factor: A becomes L (unit diagonal, not kept) below and U above. solve_right:
// A becomes A*U^-1. solve_left: A becomes L^-1*A. update: C -= A*B.
void block_factor(double *a, int b);
void block_solve_right(double *restrict a, const double *restrict d, int b);
void block_solve_left(double *restrict a, const double *restrict d, int b);
void block_update(double *restrict c, const double *restrict a, const double *restrict p, int b);

#endif
