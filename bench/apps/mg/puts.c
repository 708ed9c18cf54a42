// SPDX-License-Identifier: BSD-3-Clause
// Halos by nonblocking puts and a notification behind them. Planes and rows go straight into the
// neighbour's grid; single points, which would be a row each, are packed.
//
// No halo is overwritten while its owner needs it: between two exchanges of the same array every
// rank exchanges another one with the same neighbours, and it sends that only after it has read the
// old halos. Packed faces are read right after they have arrived, so they need two buffers by
// turns: a rank that puts into one again has received a face that was sent after that reading.
#include "mg.h"

enum { TURNS = 2 };
static struct {
	void **all;  // each rank's buffers for what arrives, [turn][side]
	double *out; // what is sent, [side]
	size_t most; // points of a buffer
	int turn;
} packed;

void way_armci_start(const struct mg *m)
{
	const int *n = m->grid[m->levels].n;
	packed.most = face(n, 0);
	packed.all = app_malloc(TURNS * 2 * packed.most * sizeof(double));
	packed.out = app_local(2 * packed.most * sizeof(double));
}

void way_armci_end(void)
{
	app_free(packed.all);
	app_need(ARMCI_Free_local(packed.out) == 0, "ARMCI_Free_local");
}

static double *buffer(int rank, int side)
{
	return (double *)packed.all[rank] + (size_t)(packed.turn * 2 + side) * packed.most;
}

// A face that goes from my plane `from` to the neighbour's plane `to`: a plane, or the rows of
// axis 1.
static void put(const struct mg *m, double *x, const int *n, int axis, int from, int to, int rank,
	armci_hdl_t *open)
{
	double *there = (double *)m->all[rank] + (x - (double *)m->all[app_me]);
	int depth = (int)(plane(n) * sizeof *x), count[2] = {(int)(row(n) * sizeof *x), n[2]};
	size_t first = axis == 2 ? 0 : plane(n), step = axis == 2 ? plane(n) : row(n);
	double *src = x + first + step * (size_t)from, *dst = there + first + step * (size_t)to;
	if (axis == 2)
		app_need(ARMCI_NbPut(src, dst, depth, rank, open) == 0, "ARMCI_NbPut");
	else
		app_need(ARMCI_NbPutS(src, &depth, dst, &depth, count, 1, rank, open) == 0,
			"ARMCI_NbPutS");
}

static void put_packed(double *x, const int *n, int axis, int from, int side, int rank,
	armci_hdl_t *open)
{
	double *out = packed.out + (size_t)side * packed.most;
	pack(x, n, axis, from, out);
	app_need(ARMCI_NbPut(out, buffer(rank, side), (int)(face(n, axis) * sizeof *x), rank,
			 open) == 0,
		"ARMCI_NbPut");
}

static void swap(const struct mg *m, double *x, const int *n, int axis)
{
	const int *rank = m->beside[axis];
	const int edge[2] = {1, n[axis]}, halo[2] = {0, n[axis] + 1};
	bool together = rank[0] == rank[1]; // two ranks around a torus are neighbours on both sides
	armci_hdl_t open[2];
	for (int s = 0; s < 2; s++) { // it is my neighbour's other side
		if (axis == 0)
			put_packed(x, n, axis, edge[s], 1 - s, rank[s], &open[s]);
		else
			put(m, x, n, axis, edge[s], halo[1 - s], rank[s], &open[s]);
		if (s == 1 || !together)
			armci_notify(rank[s]);
	}
	for (int s = together, seen; s < 2; s++) armci_notify_wait(rank[s], &seen);
	for (int s = 0; s < 2; s++) ARMCI_Wait(&open[s]);
	if (axis != 0)
		return;
	for (int s = 0; s < 2; s++) unpack(x, n, axis, halo[s], buffer(app_me, s));
	packed.turn = 1 - packed.turn;
}

static void sum(double *x, int count) { armci_msg_dgop(x, count, "+"); }
static void barrier(void) { ARMCI_Barrier(); }

const struct way way_armci = {swap, sum, barrier};
