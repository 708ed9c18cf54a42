// SPDX-License-Identifier: BSD-3-Clause
// Halos by nonblocking puts into the neighbour's grid, and a notification behind them.
//
// No halo is overwritten while its owner needs it: between two exchanges of the same array every rank exchanges another one with
// the same neighbours, and it sends that only after it has read the old halos. So a neighbour that puts has had a
// notification from behind the last read.
#include <armci.h>
#include <string.h>

#include "app.h"
#include "mg.h"

void way_armci_start(const struct mg *m) { (void)m; }
void way_armci_end(void) {}

// One face, from plane `from` to the neighbour's plane `to`.
static void put(const struct mg *m, double *x, const int *n, int axis, int from, int to, int rank, armci_hdl_t *open)
{
	double *there = (double *)m->all[rank] + (x - (double *)m->all[app_me]);
	size_t first = 0, step = plane(n);
	int strides[2] = {(int)(plane(n) * sizeof *x)}, count[3] = {(int)(row(n) * sizeof *x), n[2]}, levels = 1;
	if (axis == 0) {
		first = plane(n) + row(n), step = 1, levels = 2;
		strides[0] = (int)(row(n) * sizeof *x), strides[1] = (int)(plane(n) * sizeof *x);
		count[0] = sizeof *x, count[1] = n[1], count[2] = n[2];
	} else if (axis == 1) {
		first = plane(n), step = row(n);
	}
	void *src = x + first + step * (size_t)from, *dst = there + first + step * (size_t)to;
	if (axis == 2)
		app_need(ARMCI_NbPut(src, dst, strides[0], rank, open) == 0, "ARMCI_NbPut");
	else
		app_need(ARMCI_NbPutS(src, strides, dst, strides, count, levels, rank, open) == 0, "ARMCI_NbPutS");
}

static void swap(const struct mg *m, double *x, const int *n, int axis)
{
	const int *rank = m->beside[axis];
	int ranks = rank[0] == rank[1] ? 1 : 2, seen; // two ranks around a torus are neighbours on both sides
	armci_hdl_t open;
	ARMCI_INIT_HANDLE(&open);
	put(m, x, n, axis, 1, n[axis] + 1, rank[0], &open);
	if (ranks == 2)
		armci_notify(rank[0]);
	put(m, x, n, axis, n[axis], 0, rank[1], &open);
	armci_notify(rank[1]);
	for (int s = 0; s < ranks; s++) armci_notify_wait(rank[s], &seen);
	ARMCI_Wait(&open);
}

static void sum(double *x) { armci_msg_dgop(x, 1, "+"); }
static void barrier(void) { ARMCI_Barrier(); }

const struct way way_armci = {swap, sum, barrier};
