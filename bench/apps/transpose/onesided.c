// SPDX-License-Identifier: BSD-3-Clause
// The transpose by one-sided transfers in slices of a block, of which one is under way while
// another is transposed. Blocks of ranks of the node are read or written where they lie. Each rank
// begins with another one.
#include "transpose.h"

// A slice of the exchange with one rank: lines first to first + lines - 1 of the block.
struct slice {
	int rank, first, lines;
};

// The number of slices that are exchanged with ranks of other nodes.
static int far_slices(const struct transpose *t)
{
	int far = 0;
	for (int r = 0; r < app_n; r++) far += !ARMCI_Same_node(r);
	return far * ((t->rows + SLICE - 1) / SLICE);
}

// The i-th of them: rank after rank, those behind me first.
static struct slice far_slice(const struct transpose *t, int i)
{
	int each = (t->rows + SLICE - 1) / SLICE, place = i / each, rank = app_me,
	    first = i % each * SLICE;
	for (int seen = -1; seen < place; seen += !ARMCI_Same_node(rank)) rank = (rank + 1) % app_n;
	return (struct slice){rank, first, first + SLICE <= t->rows ? SLICE : t->rows - first};
}

static void near_blocks(const struct transpose *t, void **from, void **to)
{
	size_t rows = (size_t)t->rows;
	for (int k = 0; k < app_n; k++) {
		int r = (app_me + k) % app_n;
		if (ARMCI_Same_node(r))
			transpose_patch((double *)from[r] + (size_t)app_me * rows, t->n,
				(double *)to[app_me] + (size_t)r * rows, t->n, t->rows, t->rows);
	}
}

static void wait(armci_hdl_t *handle) { app_need(ARMCI_Wait(handle) == 0, "ARMCI_Wait"); }

static void get(const struct transpose *t, void **from, struct slice s, double *buffer,
	armci_hdl_t *handle)
{
	int there = t->n * (int)sizeof(double), here = t->rows * (int)sizeof(double),
	    count[] = {here, s.lines};
	double *at = (double *)from[s.rank] + (size_t)s.first * (size_t)t->n +
		(size_t)app_me * (size_t)t->rows;
	app_need(ARMCI_NbGetS(at, &there, buffer, &here, count, 1, s.rank, handle) == 0,
		"ARMCI_NbGetS");
}

// Rows of another's block come in and are transposed into columns of mine. The first comes while
// near blocks are transposed.
void round_get(struct transpose *t, void **from, void **to)
{
	armci_hdl_t handles[2];
	int count = far_slices(t);
	for (int i = 0; i < 2 && i < count; i++)
		APP_COMM(get(t, from, far_slice(t, i), t->slices[i], &handles[i]));
	near_blocks(t, from, to);
	for (int i = 0; i < count; i++) {
		struct slice s = far_slice(t, i);
		double *at = (double *)to[app_me] + (size_t)s.rank * (size_t)t->rows + s.first;
		APP_COMM(wait(&handles[i % 2]));
		transpose_patch(t->slices[i % 2], t->rows, at, t->n, s.lines, t->rows);
		if (i + 2 < count)
			APP_COMM(get(t, from, far_slice(t, i + 2), t->slices[i % 2],
				&handles[i % 2]));
	}
}

static void put(const struct transpose *t, void **to, struct slice s, double *buffer,
	armci_hdl_t *handle)
{
	int there = t->n * (int)sizeof(double), here = t->rows * (int)sizeof(double),
	    count[] = {here, s.lines};
	double *at = (double *)to[s.rank] + (size_t)s.first * (size_t)t->n +
		(size_t)app_me * (size_t)t->rows;
	app_need(ARMCI_NbPutS(buffer, &here, at, &there, count, 1, s.rank, handle) == 0,
		"ARMCI_NbPutS");
}

// Columns of mine are transposed into rows of another's block, which go out. Near blocks are
// transposed meanwhile.
void round_put(struct transpose *t, void **from, void **to)
{
	armci_hdl_t handles[2];
	int count = far_slices(t);
	for (int i = 0; i < count; i++) {
		struct slice s = far_slice(t, i);
		const double *at = (double *)from[app_me] + (size_t)s.rank * (size_t)t->rows +
			s.first;
		if (i >= 2)
			APP_COMM(wait(&handles[i % 2]));
		transpose_patch(at, t->n, t->slices[i % 2], t->rows, t->rows, s.lines);
		APP_COMM(put(t, to, s, t->slices[i % 2], &handles[i % 2]));
	}
	near_blocks(t, from, to);
	for (int i = count > 2 ? count - 2 : 0; i < count; i++) APP_COMM(wait(&handles[i % 2]));
}
