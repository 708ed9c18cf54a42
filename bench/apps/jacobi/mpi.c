// SPDX-License-Identifier: BSD-3-Clause
// The exchange of edges by messages; a vector type describes columns.
#include "jacobi.h"

static MPI_Request requests[2 * SIDES];
static int open;

static MPI_Datatype type_of(struct edge e)
{
	MPI_Datatype type;
	MPI_Type_vector(e.points, 1, e.step, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	return type;
}

static void begin(struct field *f, int which)
{
	static MPI_Datatype column; // of this grid; there is one
	double *mine = f->grid[which][app_me];
	open = 0;
	if (!column)
		column = type_of(inner_edge(LEFT, f->rows, f->columns));
	for (int side = 0; side < SIDES; side++)
		if (f->neighbour[side] >= 0) {
			struct edge e = halo_edge(side, f->rows, f->columns);
			bool row = e.step == 1;
			MPI_Irecv(mine + e.at, row ? e.points : 1, row ? MPI_DOUBLE : column,
				f->neighbour[side], (int)opposite(side), MPI_COMM_WORLD,
				&requests[open++]);
		}
	for (int side = 0; side < SIDES; side++)
		if (f->neighbour[side] >= 0) {
			struct edge e = inner_edge(side, f->rows, f->columns);
			bool row = e.step == 1;
			MPI_Isend(mine + e.at, row ? e.points : 1, row ? MPI_DOUBLE : column,
				f->neighbour[side], side, MPI_COMM_WORLD, &requests[open++]);
		}
}

static void end(struct field *f, int which)
{
	(void)f, (void)which;
	MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
}

const struct exchange by_messages = {begin, end};
