// SPDX-License-Identifier: BSD-3-Clause
// Halos by two-sided messages: receives are posted first, faces that are not contiguous are packed,
// and both directions of an axis are under way at once.
#include <stdlib.h>

#include "mg.h"

static double *in[2], *out[2];

void way_mpi_start(const struct mg *m)
{
	const int *n = m->grid[m->levels].n;
	size_t most = face(n, 0) > face(n, 1) ? face(n, 0) : face(n, 1);
	for (int s = 0; s < 2; s++) {
		in[s] = app_private(most * sizeof **in);
		out[s] = app_private(most * sizeof **out);
	}
}

void way_mpi_end(void)
{
	for (int s = 0; s < 2; s++) {
		free(in[s]);
		free(out[s]);
	}
}

static void swap(const struct mg *m, double *x, const int *n, int axis)
{
	const int *rank = m->beside[axis];
	const int edge[2] = {1, n[axis]}, halo[2] = {0, n[axis] + 1};
	int count = (int)face(n, axis);
	bool packed = axis != 2; // planes across the slowest axis are contiguous
	MPI_Request open[4];
	for (int s = 0; s < 2; s++) // what comes from behind was sent forward, tag 0
		MPI_Irecv(packed ? in[s] : x + (size_t)halo[s] * plane(n), count, MPI_DOUBLE,
			rank[s], 1 - s, MPI_COMM_WORLD, &open[s]);
	for (int s = 0; s < 2; s++) {
		if (packed)
			pack(x, n, axis, edge[s], out[s]);
		MPI_Isend(packed ? out[s] : x + (size_t)edge[s] * plane(n), count, MPI_DOUBLE,
			rank[s], s, MPI_COMM_WORLD, &open[2 + s]);
	}
	for (int left = 2; packed && left > 0; left--) {
		int s;
		MPI_Waitany(2, open, &s, MPI_STATUS_IGNORE);
		unpack(x, n, axis, halo[s], in[s]);
	}
	MPI_Waitall(4, open, MPI_STATUSES_IGNORE);
}

static void sum(double *x, int count)
{
	MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

const struct way way_mpi = {swap, sum, barrier};
