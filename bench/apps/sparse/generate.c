// SPDX-License-Identifier: BSD-3-Clause
// The matrix that is multiplied when no file is given: order and number of entries of av41092, an
// unsymmetric matrix of two-dimensional finite elements in the Harwell-Boeing and Davis
// collections. Its entries are this program's own; they are the same on any number of ranks, and
// imitate a triangulation that was refined:
//
//   - each node (row) is coupled with the 5 x 5 nodes around it of a mesh whose rows have `width`
//     nodes: five short runs of columns, near five diagonals;
//   - nodes of refined places were numbered later. 32 nodes that follow each other are a patch,
//     which is coupled with two runs of five nodes and six single ones anywhere;
//   - what is left over at the edges or falls on an entry twice goes beside the diagonal.
//
// So each of two or four ranks needs 3900 to 4800 elements of the others' x, in 1600 to 1850 runs,
// of which two thirds are single elements. Values are random in -1/2 .. 1/2, and unsymmetric.
#include "sparse.h"

enum { PATCH = 32, PATCH_RUNS = 2, RUN = 5, PATCH_SINGLES = 6, ROW_MAX = 48 };

// Columns of a row, without repetition.
struct row {
	int n, limit, count;
	int column[ROW_MAX];
};

static void want(struct row *r, int column)
{
	if (column < 0 || column >= r->n || r->count == r->limit)
		return;
	int at = r->count;
	for (; at > 0 && r->column[at - 1] >= column; at--)
		if (r->column[at - 1] == column)
			return;
	for (int i = r->count++; i > at; i--) r->column[i] = r->column[i - 1];
	r->column[at] = column;
}

static void far(struct row *r, int patch)
{
	uint64_t key = (uint64_t)patch << 8;
	for (int k = 0; k < PATCH_RUNS; k++) {
		int from = (int)(app_random(key + (uint64_t)k) % (uint64_t)(r->n - RUN));
		for (int d = 0; d < RUN; d++) want(r, from + d);
	}
	for (int k = 0; k < PATCH_SINGLES; k++)
		want(r, (int)(app_random(key + PATCH_RUNS + (uint64_t)k) % (uint64_t)r->n));
}

void generate(struct entries *e, bool small)
{
	const int n = small ? 2052 : 41092, width = small ? 45 : 203;
	const int64_t total = small ? 84000 : 1683902;
	e->n = n;
	for (int i = 0; i < n; i++) {
		struct row r = {.n = n, .limit = (int)((i + 1) * total / n - i * total / n)};
		want(&r, i);
		for (int dy = -2; dy <= 2; dy++)
			for (int dx = -2; dx <= 2; dx++) want(&r, i + dy * width + dx);
		far(&r, i / PATCH);
		for (int d = 3; r.count < r.limit; d++) {
			want(&r, i + d);
			want(&r, i - d);
		}
		for (int k = 0; k < r.count; k++) {
			uint64_t key = app_random((uint64_t)i) + (uint64_t)r.column[k];
			entries_add(e, i, r.column[k], app_random_double(key));
		}
	}
}
