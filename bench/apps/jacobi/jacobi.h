// SPDX-License-Identifier: BSD-3-Clause
// What the versions of the Jacobi iteration share: the grid, how it is divided, and where its edges
// are.
#ifndef JACOBI_H
#define JACOBI_H

#include "app.h"

enum side { UP, DOWN, LEFT, RIGHT, SIDES };
static inline enum side opposite(enum side side) { return side ^ 1; }

// n x n points, divided among p x q ranks. A rank keeps its points by rows with a halo of one point
// around them, twice: an iteration reads the one and writes the other.
struct field {
	int n, iterations;
	int p, q, row, column;
	// my points begin at (top, left); stride: points from a row to the next
	int top, left, rows, columns, stride;
	int neighbour[SIDES];                 // ranks, -1 at the boundary
	void **grid[2];                       // where each rank has them
	double *serial;                       // (n + 2) x (n + 2), what must come out
};

// An edge of a grid: the first point, the number of points, and the distance from one to the next.
struct edge {
	size_t at;
	int points, step;
};

// My points next to a side, and the halo beyond it, of a grid of so many rows and columns.
struct edge inner_edge(enum side side, int rows, int columns);
struct edge halo_edge(enum side side, int rows, int columns);
// How many of n points belong to place `at` of `count`, and the first of them.
int share(int n, int at, int count, int *first);
// The numbers of columns and of rows of the rank on a side.
int neighbour_columns(const struct field *f, enum side side);
int neighbour_rows(const struct field *f, enum side side);

// to becomes an iteration of from, rows i0 to i1 - 1 and columns j0 to j1 - 1.
void relax(const double *from, double *to, int stride, int i0, int i1, int j0, int j1);

// The exchange of the edges of a grid: begun before the inner points are computed, ended before the
// outer ones are.
struct exchange {
	void (*begin)(struct field *f, int which);
	void (*end)(struct field *f, int which);
};
extern const struct exchange by_messages, by_puts;

#endif
