// SPDX-License-Identifier: BSD-3-Clause
// All nodes at once. A fence of the ranks of all others beside the fence of one, and beside raw
// sockets to all of them: before each fence something is stored at every rank it is about; only the
// fence counts, on the raw side the answers. And a mutex of the last rank that all others want, all
// equally far from it: how often they get it, how evenly.
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>

#include "wire.h"

enum { MOST_RANKS = 64 };

struct fences {
	char *mine, **theirs;
	struct perf_wire wire[MOST_RANKS]; // by rank
	double clock;
};

static void put_to(struct fences *f, int first, int last)
{
	for (int r = first; r <= last; r++) ARMCI_Put(f->mine, f->theirs[r], 8, r);
}

#define F ((struct fences *)arg)
PERF_COUNTED(fence_one, F->clock, put_to(F, 1, 1), ARMCI_Fence(1), (void)0)
PERF_COUNTED(fence_all, F->clock, put_to(F, 1, perf_n - 1), ARMCI_AllFence(), (void)0)

static void raw_all(void *arg, long n)
{
	struct fences *f = arg;
	for (int r = 1; r < perf_n; r++) perf_wire_style(&f->wire[r], PERF_MIXED);
	for (long i = 0; i < n; i++) {
		for (int r = 1; r < perf_n; r++) perf_wire_send(&f->wire[r], 16, 0);
		double begin = timing_now();
		for (int r = 1; r < perf_n; r++) perf_wire_send(&f->wire[r], 8, 32);
		for (int r = 1; r < perf_n; r++) perf_wire_take(&f->wire[r], 32);
		f->clock += timing_now() - begin;
	}
	for (int r = 1; r < perf_n; r++) perf_wire_style(&f->wire[r], PERF_ASLEEP);
}

PERF_BODY(lock_last, ARMCI_Lock(0, perf_n - 1); ARMCI_Unlock(0, perf_n - 1))

static void wanted_by_all(void)
{
	double rate[TIMING_REPS_MAX], share[TIMING_REPS_MAX];
	ARMCI_Create_mutexes(1);
	for (int i = 0; i < perf_reps; i++)
		perf_compete(lock_last, NULL, perf_me < perf_n - 1, &rate[i], &share[i]);
	ARMCI_Destroy_mutexes();
	struct perf_case c = {.op = "lock-all", .shape = "-", .unit = TIMING_MOPS};
	perf_figures(&c, rate, NULL, perf_reps);
	c.op = "lock-all-least-share", c.unit = TIMING_SHARE;
	perf_figures(&c, share, NULL, perf_reps);
}

void perf_all_nodes(void)
{
	void **all = perf_malloc(64);
	struct fences f = {.mine = perf_private(64), .theirs = (char **)all};
	if (perf_n > MOST_RANKS)
		ARMCI_Error("too many ranks to fence", perf_n);
	for (int r = 1; r < perf_n; r++) f.wire[r] = perf_wire_open(64, r);
	struct perf_case c = {.shape = "-",
		.unit = TIMING_NS,
		.arg = &f,
		.clock = &f.clock,
		.raw_clock = &f.clock,
		.ours = fence_all};
	c.op = "fence-all/one", c.raw = fence_one;
	perf_solo(&c);
	c.op = "fence-all/raw", c.raw = raw_all;
	perf_solo(&c);
	if (perf_me == 0)
		for (int r = 1; r < perf_n; r++) perf_wire_close(&f.wire[r]);
	wanted_by_all();
	free(f.mine);
	perf_free(all);
}
