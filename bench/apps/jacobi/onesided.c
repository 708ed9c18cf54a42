// SPDX-License-Identifier: BSD-3-Clause
// The exchange of edges by nonblocking puts into the halo of the neighbours, each followed by a
// notification. Two grids are enough: before a neighbour puts into a halo again, it has been
// notified by the halo's owner, which had then computed everything from the former contents.
#include "jacobi.h"

static armci_hdl_t handles[SIDES];

static void put(struct field *f, enum side side, int which)
{
	int to = f->neighbour[side];
	struct edge mine = inner_edge(side, f->rows, f->columns);
	struct edge halo = halo_edge(opposite(side), neighbour_rows(f, side),
		neighbour_columns(f, side));
	double *from = (double *)f->grid[which][app_me] + mine.at,
	       *at = (double *)f->grid[which][to] + halo.at;
	int here = mine.step * (int)sizeof(double), there = halo.step * (int)sizeof(double),
	    count[] = {sizeof(double), mine.points};
	int status;
	if (mine.step == 1)
		status = ARMCI_NbPut(from, at, mine.points * (int)sizeof(double), to,
			&handles[side]);
	else
		status = ARMCI_NbPutS(from, &here, at, &there, count, 1, to, &handles[side]);
	app_need(status == 0 && armci_notify(to) >= 0, "put and notify");
}

static void begin(struct field *f, int which)
{
	for (int side = 0; side < SIDES; side++)
		if (f->neighbour[side] >= 0)
			put(f, side, which);
}

// The puts are waited for, too: the next iteration overwrites the edges that they read.
static void end(struct field *f, int which)
{
	int times;
	(void)which;
	for (int side = 0; side < SIDES; side++)
		if (f->neighbour[side] >= 0) {
			app_need(ARMCI_Wait(&handles[side]) == 0, "ARMCI_Wait");
			app_need(armci_notify_wait(f->neighbour[side], &times) >= 0,
				"armci_notify_wait");
		}
}

const struct exchange by_puts = {begin, end};
