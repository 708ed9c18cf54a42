// SPDX-License-Identifier: BSD-3-Clause
// What the versions of the matrix product share: the problem C = A B, how a matrix is distributed
// over the grid of ranks, and the BLAS.
#ifndef SRUMMA_H
#define SRUMMA_H

#include "app.h"

// The part of an n x n matrix that a rank holds, by columns as in Fortran: its rows and columns are
// those of the blocks that block-cyclic distribution gives it. With blocks of n / ranks, rounded
// up, that is the plain block distribution.
struct part {
	int rows, columns, stride; // stride: elements from a column to the next, at least 1
	int *row, *column;         // their numbers in the whole matrix
	double *at;
};

struct parts {
	struct part a, b, c; // of A, B and C
};

struct product {
	int n;
	// the grid of ranks, and my place: ranks follow each other along a row
	int p, q, row, column;
	double *want;          // A (B x)
	struct parts cyclic;   // block-cyclic, of pdgemm
	int context;           // BLACS's grid
	struct parts blocks;   // a block for each rank, of SRUMMA
	void **all_a, **all_b; // where each rank has its blocks of A and B
};

enum matrix { MATRIX_A, MATRIX_B, VECTOR };

// How many of n rows in blocks of this size belong to place `at` of `count`.
int share(int n, int block, int at, int count);
// The part of place (row, column) of p x q, without memory.
struct part part_of(const struct product *m, int row_block, int column_block);
void part_fill(struct part *part, enum matrix which);
void part_spoil(struct part *part); // so that no version's result is taken for another's
void part_free(struct part *part);

// The right answer, and whether a distributed C is it. Collective.
void find_want(struct product *m);
bool is_product(const struct product *m, const struct part *c);

void pdgemm_begin(struct product *m);
double pdgemm_run(void *product);
bool pdgemm_good(void *product);
void pdgemm_end(struct product *m);
// While it is on, MPI calls count as communication (messages.c).
extern bool count_messages;

void srumma_begin(struct product *m);
double srumma_run(void *product);
double srumma_blocking_run(void *product);
double srumma_rows_run(void *product);
bool srumma_good(void *product);
void srumma_end(struct product *m);

// c = a b + keep c, where a is m x k, b is k x n.
void dgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n,
	const int *k, const double *one, const double *a, const int *stride_a, const double *b,
	const int *stride_b, const double *keep, double *c, const int *stride_c);

#endif
