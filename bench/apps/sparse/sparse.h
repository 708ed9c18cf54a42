// SPDX-License-Identifier: BSD-3-Clause
// The sparse matrix as its parts see it: entries in any order, rows in compressed form, and what a
// rank has of both matrix and vector.
#ifndef SPARSE_H
#define SPARSE_H

#include "app.h"

enum { SPARSE_PRODUCTS = 20 }; // in a timed run

// A square matrix as a list; entries of the same place count together. Indices from 0.
struct entries {
	int n, count, room;
	int *row, *column;
	double *value;
};

// Rows in compressed form: those of row i are start[i] .. start[i+1]-1.
struct rows {
	int count;
	int *start, *column;
	double *value;
};

// A run of needed elements of x that are neighbours at their owner.
struct run {
	int at;     // index among the owner's elements
	int ghost;  // index among mine of others
	int length; // elements
};

// What a rank has. Its rows are first .. first+mine-1, and x is divided in the same way. Of the
// elements of others it keeps those that its columns need, in order: ghosts. Columns are indices
// into its own elements, and from `mine` on into its ghosts.
struct part {
	int n, first, mine, ghosts;
	int *starts;      // first row of every rank, and n
	struct rows a;
	double scale;     // makes y small enough to be the next x
	// of each rank: two buffers of its elements and ghosts, since x changes while others read
	// the old one
	void **memory;
	int *sizes;       // of each rank: elements of one buffer
	int *ghost_from;  // by owner, and the end: places among my ghosts
	struct run *run;
	int *run_from;    // by owner, and the end; an owner's runs are in order of their length
	int *wanted;      // my elements that others need, by rank
	int *wanted_from; // by rank, and the end
	int *place;       // by rank: where they are among its ghosts
	double *y, *sum;  // the last product; the sum of all
};

void entries_add(struct entries *e, int row, int column, double value);
void entries_free(struct entries *e);

// The generated matrix (generate.c), and one of a file (market.c), which ends the job if the file
// is damaged.
void generate(struct entries *e, bool small);
void market_read(struct entries *e, const char *file);

struct rows rows_of(const struct entries *e);
void rows_free(struct rows *a);

// Divides the matrix of rank 0 (null elsewhere). Collective.
void part_make(struct part *p, const struct rows *whole);
void part_free(struct part *p);

// Buffer 0 or 1 of x at a rank: its elements, then its ghosts.
double *part_x(const struct part *p, int rank, int buffer);

// Sets the first x, and the one after product k; i counts from the matrix's first row.
double x_first(int i);
double x_next(int i, int k, double scale, double y);

void multiply(const struct rows *a, const double *x, double *y);

#endif
