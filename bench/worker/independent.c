// SPDX-License-Identifier: BSD-3-Clause
// What one-sided means between nodes: operations on a rank that computes without calling the
// library, with a core to spare and with none, beside the same ones on a rank that sleeps;
// transfers beside computation of a caller that has no core to spare; and a mutex whose owner takes
// it all the time.
#include "perf.h"

#include <stdlib.h>

#include "load.h"

enum { BLOCK = 64 << 10, OVERLAP = 1 << 20 };

struct far {
	char *mine, *theirs;
	long *stop; // here: this rank computes until it is not 0
	void **flags;
	void (*one)(struct far *f);
	bool crowded; // a thread computes on each of the target's cores
};

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
}

static void lock_unlock(struct far *f)
{
	(void)f;
	ARMCI_Lock(0, perf_peer);
	ARMCI_Unlock(0, perf_peer);
}

static double each(struct far *f, int n)
{
	double begin = timing_now();
	for (int i = 0; i < n; i++) f->one(f);
	return (timing_now() - begin) / n * 1e9;
}

// A target: computes until rank 0 has measured, on one core or on all.
static void be_busy(struct far *f)
{
	if (f->crowded)
		perf_load_start(perf_cores() - 1);
	while (!*(volatile long *)f->stop) timing_compute(10000);
	perf_load_stop();
}

// Rank 0 measures while the others compute; then while they sleep in a barrier.
static void beside_idle(struct far *f, const char *op, void (*one)(struct far *f), double bytes)
{
	double busy[TIMING_REPS_MAX], idle[TIMING_REPS_MAX];
	int n = perf_quick ? 10 : f->crowded ? 50 : 300;
	struct perf_case c = {.op = op, .shape = "computing", .bytes = bytes, .unit = TIMING_NS};
	f->one = one;
	for (int i = 0; i < perf_reps; i++) {
		long stop = 1;
		*f->stop = 0;
		ARMCI_Barrier();
		if (perf_me == 0) {
			each(f, 3);
			busy[i] = each(f, n);
			for (int r = 1; r < perf_n; r++)
				ARMCI_Put(&stop, f->flags[r], sizeof stop, r);
		} else {
			be_busy(f);
		}
		ARMCI_Barrier();
		if (perf_me == 0)
			idle[i] = each(f, n);
		ARMCI_Barrier();
	}
	perf_figures(&c, busy, idle, perf_reps);
}

static void busy_targets(bool crowded, const char *const op[5])
{
	void **all = perf_malloc(BLOCK), **flags = perf_malloc(sizeof(long));
	struct far f = {.mine = perf_private(BLOCK),
		.theirs = all[perf_peer],
		.stop = flags[perf_me],
		.flags = flags,
		.crowded = crowded};
	ARMCI_Create_mutexes(1);
	beside_idle(&f, op[0], get_block, BLOCK);
	beside_idle(&f, op[1], put_fence, 8);
	beside_idle(&f, op[2], acc_fence, 8);
	beside_idle(&f, op[3], fetch_add, 8);
	beside_idle(&f, op[4], lock_unlock, 0);
	ARMCI_Destroy_mutexes();
	free(f.mine);
	perf_free(flags);
	perf_free(all);
}

void perf_busy(void)
{
	static const char *const ops[5] = {"busy-get", "busy-put+fence", "busy-acc+fence",
		"busy-fetch-add", "busy-lock"};
	busy_targets(false, ops);
}

void perf_crowded(void)
{
	static const char *const ops[5] = {"crowded-get", "crowded-put+fence", "crowded-acc+fence",
		"crowded-fetch-add", "crowded-lock"};
	busy_targets(true, ops);
}

// With a thread that computes on each core but the caller's, and on each of the target's machine if
// it is another.
void perf_overlap_crowded(void)
{
	struct perf_overlap o = {.t = perf_transfer(OVERLAP), .get = true};
	bool one_machine = perf_one_machine();
	if (perf_me == 0)
		perf_load_start(perf_cores() - 1);
	else if (!one_machine)
		perf_load_start(perf_cores());
	perf_overlap_rows(&o, "overlap-crowded", OVERLAP);
	perf_load_stop();
	perf_transfer_end(&o.t);
}

// Rank 0 takes a mutex of its peer while that one takes it all the time, which needs no message;
// then alone.
void perf_owner(void)
{
	double contended[TIMING_REPS_MAX], alone[TIMING_REPS_MAX];
	void **flags = perf_malloc(sizeof(long));
	struct far f = {.one = lock_unlock};
	int n = perf_quick ? 20 : 500;
	ARMCI_Create_mutexes(1);
	for (int i = 0; i < perf_reps; i++) {
		volatile long *stop = flags[perf_me];
		long one = 1;
		*stop = 0;
		ARMCI_Barrier();
		if (perf_me == 0) {
			each(&f, 3);
			contended[i] = each(&f, n);
			for (int r = 1; r < perf_n; r++) ARMCI_Put(&one, flags[r], sizeof one, r);
		} else {
			while (!*stop) {
				ARMCI_Lock(0, perf_me);
				ARMCI_Unlock(0, perf_me);
			}
		}
		ARMCI_Barrier();
		if (perf_me == 0)
			alone[i] = each(&f, n);
		ARMCI_Barrier();
	}
	struct perf_case c = {.op = "lock-beside-owner", .shape = "-", .unit = TIMING_NS};
	perf_figures(&c, contended, alone, perf_reps);
	ARMCI_Destroy_mutexes();
	perf_free(flags);
}
