// SPDX-License-Identifier: BSD-3-Clause
// What synchronisation alone costs, by the number of origins of one target: epochs without
// operations.
#include "windows.h"

#include <stdio.h>

static void epoch(void)
{
	if (me == 0) {
		MPI_Win_post(area.others, 0, area.win);
		MPI_Win_wait(area.win);
	} else {
		MPI_Win_start(area.others, 0, area.win);
		MPI_Win_complete(area.win);
	}
}

// All origins at the same time.
static void lock(void)
{
	if (me == 0)
		return;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, area.win);
	MPI_Win_unlock(0, area.win);
}

TIMING_LOOP(pscw, me == 0, epoch())
TIMING_LOOP(fences, true, MPI_Win_fence(0, area.win))
TIMING_LOOP(barriers, true, MPI_Barrier(MPI_COMM_WORLD))
TIMING_LOOP(contended, me > 0, lock())

void synchronisation(void)
{
	char x[16];
	if (!area_open(4096))
		return;
	snprintf(x, sizeof x, "%d", ranks - 1);
	struct figure f = {.op = "sync-pscw", .x = x, .unit = TIMING_NS, .ours = pscw};
	measure(&f);
	f.op = "sync-lock";
	f.ours = contended;
	measure(&f);
	f.op = "sync-fence";
	f.ours = fences;
	f.raw = barriers;
	MPI_Win_fence(0, area.win);
	measure(&f);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, area.win);
	area_close();
}
