// SPDX-License-Identifier: BSD-3-Clause
// A fence of the ranks of all other nodes beside the fence of one, and beside raw sockets to all of them. Before each
// fence something is stored at every rank it is about; only the fence counts, on the raw side the answers.
#include "perf.h"

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

static void fence_one(void *arg, long n)
{
	struct fences *f = arg;
	for (long i = 0; i < n; i++) {
		put_to(f, 1, 1);
		double begin = perf_now();
		ARMCI_Fence(1);
		f->clock += perf_now() - begin;
	}
}

static void fence_all(void *arg, long n)
{
	struct fences *f = arg;
	for (long i = 0; i < n; i++) {
		put_to(f, 1, perf_n - 1);
		double begin = perf_now();
		ARMCI_AllFence();
		f->clock += perf_now() - begin;
	}
}

static void raw_all(void *arg, long n)
{
	struct fences *f = arg;
	for (int r = 1; r < perf_n; r++) perf_wire_style(&f->wire[r], PERF_MIXED);
	for (long i = 0; i < n; i++) {
		for (int r = 1; r < perf_n; r++) perf_wire_send(&f->wire[r], 16, 0);
		double begin = perf_now();
		for (int r = 1; r < perf_n; r++) perf_wire_send(&f->wire[r], 8, 32);
		for (int r = 1; r < perf_n; r++) perf_wire_take(&f->wire[r], 32);
		f->clock += perf_now() - begin;
	}
	for (int r = 1; r < perf_n; r++) perf_wire_style(&f->wire[r], PERF_ASLEEP);
}

void perf_remote_fence(void)
{
	void **all = perf_malloc(64);
	struct fences f = {.mine = perf_private(64), .theirs = (char **)all};
	if (perf_n > MOST_RANKS)
		ARMCI_Error("too many ranks for the fences", perf_n);
	for (int r = 1; r < perf_n; r++) f.wire[r] = perf_wire_open(64, r);
	struct perf_case c = {.shape = "-", .unit = PERF_NS, .arg = &f, .clock = &f.clock, .ours = fence_all};
	c.op = "remote-fence-all/one", c.raw = fence_one;
	perf_solo(&c);
	c.op = "remote-fence-all/raw", c.raw = raw_all;
	perf_solo(&c);
	if (perf_me == 0)
		for (int r = 1; r < perf_n; r++) perf_wire_close(&f.wire[r]);
	free(f.mine);
	perf_free(all);
}
