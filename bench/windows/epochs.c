// SPDX-License-Identifier: BSD-3-Clause
// What synchronisation alone costs, by the number of origins of one target: epochs without
// operations.
#include "windows.h"

#include <stdio.h>

static double pscw(long n)
{
	double begin = timing_now();
	for (long i = 0; i < n; i++) {
		if (me == 0) {
			MPI_Win_post(area.others, 0, area.win);
			MPI_Win_wait(area.win);
		} else {
			MPI_Win_start(area.others, 0, area.win);
			MPI_Win_complete(area.win);
		}
	}
	return me == 0 ? timing_now() - begin : 0;
}

static double fences(long n)
{
	double begin = timing_now();
	for (long i = 0; i < n; i++) MPI_Win_fence(0, area.win);
	return timing_now() - begin;
}

static double barriers(long n)
{
	double begin = timing_now();
	for (long i = 0; i < n; i++) MPI_Barrier(MPI_COMM_WORLD);
	return timing_now() - begin;
}

// All origins at the same time.
static double contended(long n)
{
	double begin = timing_now();
	for (long i = 0; me > 0 && i < n; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, area.win);
		MPI_Win_unlock(0, area.win);
	}
	return me > 0 ? timing_now() - begin : 0;
}

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
