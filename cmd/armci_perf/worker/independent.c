// SPDX-License-Identifier: BSD-3-Clause
// What one-sided means between nodes: operations on a rank that computes without calling the library, beside the same
// ones on a rank that sleeps; transfers that proceed while their caller computes; many small puts that nobody waits for.
#include "perf.h"

#include <stdlib.h>
#include <string.h>

#include "wire.h"

enum { BATCH = 1000, BLOCK = 64 << 10, LARGE = 1 << 20 };

struct far {
	char *mine, *theirs;
	long *stop; // at the peer: it computes until this is not 0
	void (*one)(struct far *f);
	void **flags;
	struct perf_wire wire;
	double clock;
};

static volatile double sink;

static void compute(double seconds)
{
	double x = 1, end = perf_now() + seconds;
	while (perf_now() < end)
		for (int i = 0; i < 1000; i++) x = x * 1.0000001 + 1e-9;
	sink = x;
}

static void get_block(struct far *f) { ARMCI_Get(f->theirs, f->mine, BLOCK, perf_peer); }

static void put_fence(struct far *f)
{
	ARMCI_Put(f->mine, f->theirs, 8, perf_peer);
	ARMCI_Fence(perf_peer);
}

static void acc_fence(struct far *f)
{
	double one = 1;
	ARMCI_Acc(ARMCI_ACC_DBL, &one, f->mine, f->theirs, 8, perf_peer);
	ARMCI_Fence(perf_peer);
}

static void fetch_add(struct far *f)
{
	long old;
	ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, f->theirs, 1, perf_peer);
	(void)f;
}

static void lock_unlock(struct far *f)
{
	(void)f;
	ARMCI_Lock(0, perf_peer);
	ARMCI_Unlock(0, perf_peer);
}

static double each(struct far *f, int n)
{
	double begin = perf_now();
	for (int i = 0; i < n; i++) f->one(f);
	return (perf_now() - begin) / n * 1e9;
}

// Rank 0 measures while its peer, and whoever else there is, computes; then while they sleep in a barrier.
static void beside_idle(struct far *f, const char *op, void (*one)(struct far *f), double bytes)
{
	double busy[PERF_REPS_MAX], idle[PERF_REPS_MAX];
	int n = perf_quick ? 20 : 300;
	struct perf_case c = {.op = op, .shape = "computing", .bytes = bytes, .unit = PERF_NS};
	f->one = one;
	for (int i = 0; i < perf_reps; i++) {
		long stop = 1;
		*f->stop = 0;
		ARMCI_Barrier();
		if (perf_me == 0) {
			each(f, 3);
			busy[i] = each(f, n);
			for (int r = 1; r < perf_n; r++) ARMCI_Put(&stop, f->flags[r], sizeof stop, r);
		} else {
			while (!*(volatile long *)f->stop) compute(0.001);
		}
		ARMCI_Barrier();
		if (perf_me == 0)
			idle[i] = each(f, n);
		ARMCI_Barrier();
	}
	perf_figures(&c, busy, idle, perf_reps);
}

void perf_remote_busy(void)
{
	void **all = perf_malloc(BLOCK), **flags = perf_malloc(sizeof(long));
	struct far f = {.mine = perf_private(BLOCK), .theirs = all[perf_peer], .stop = flags[perf_me],
		.flags = flags};
	ARMCI_Create_mutexes(1);
	beside_idle(&f, "remote-busy-get", get_block, BLOCK);
	beside_idle(&f, "remote-busy-put+fence", put_fence, 8);
	beside_idle(&f, "remote-busy-acc+fence", acc_fence, 8);
	beside_idle(&f, "remote-busy-fetch-add", fetch_add, 8);
	beside_idle(&f, "remote-busy-lock", lock_unlock, 0);
	ARMCI_Destroy_mutexes();
	free(f.mine);
	perf_free(flags);
	perf_free(all);
}

// The part of a transfer's time that disappears behind computation of the same length.
void perf_remote_overlap(void)
{
	double part[PERF_REPS_MAX];
	void **all = perf_malloc(LARGE);
	char *mine = perf_private(LARGE);
	ARMCI_Barrier();
	for (int i = 0; i < perf_reps && perf_me == 0; i++) {
		armci_hdl_t h;
		double t0 = perf_now();
		ARMCI_Get(all[perf_peer], mine, LARGE, perf_peer);
		double alone = perf_now() - t0, work = 2 * alone;
		t0 = perf_now();
		ARMCI_INIT_HANDLE(&h);
		ARMCI_NbGet(all[perf_peer], mine, LARGE, perf_peer, &h);
		compute(work);
		ARMCI_Wait(&h);
		part[i] = 100 * (1 - (perf_now() - t0 - work) / alone);
	}
	struct perf_case c = {.op = "remote-overlap", .shape = "nbget", .bytes = LARGE, .unit = PERF_PERCENT};
	perf_figures(&c, part, NULL, perf_reps);
	ARMCI_Barrier();
	free(mine);
	perf_free(all);
}

static void implicit(struct far *f)
{
	for (int k = 0; k < BATCH; k++) ARMCI_NbPut(f->mine + 8 * k, f->theirs + 8 * k, 8, perf_peer, NULL);
	ARMCI_Fence(perf_peer);
}

static void aggregated(struct far *f)
{
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	ARMCI_SET_AGGREGATE_HANDLE(&h);
	for (int k = 0; k < BATCH; k++) ARMCI_NbPut(f->mine + 8 * k, f->theirs + 8 * k, 8, perf_peer, &h);
	ARMCI_Wait(&h);
	ARMCI_UNSET_AGGREGATE_HANDLE(&h);
	ARMCI_Fence(perf_peer);
}

static void batches(void *arg, long n)
{
	struct far *f = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++) f->one(f);
	f->clock += perf_now() - begin;
}

static void raw_batches(void *arg, long n)
{
	struct far *f = arg;
	perf_wire_style(&f->wire, true);
	double begin = perf_now();
	for (long i = 0; i < n; i++) perf_wire_ask(&f->wire, 11 * BATCH, 32);
	f->clock += perf_now() - begin;
	perf_wire_style(&f->wire, false);
}

void perf_remote_batch(void)
{
	void **all = perf_malloc(8 * BATCH);
	struct far f = {.mine = perf_private(8 * BATCH), .theirs = all[perf_peer], .wire = perf_wire_open(16 * BATCH)};
	struct perf_case c = {.shape = "1000x8", .bytes = 8.0 * BATCH, .unit = PERF_NS, .arg = &f, .clock = &f.clock,
		.ours = batches, .raw = raw_batches};
	c.op = "remote-nbput", f.one = implicit;
	perf_solo(&c);
	c.op = "remote-nbput-aggregate", f.one = aggregated;
	perf_solo(&c);
	perf_wire_close(&f.wire);
	free(f.mine);
	perf_free(all);
}
