// SPDX-License-Identifier: BSD-3-Clause
// Accumulate, read-modify-write and mutexes, by one rank and by all at once; no ticket may be lost.
#include "perf.h"

enum { MOST = 1 << 20 };

static double one = 1;

PERF_FENCED(acc, ARMCI_Acc(ARMCI_ACC_DBL, &one, t->mine, t->theirs, t->count[0], perf_peer))

void perf_accumulate(void)
{
	struct perf_transfer t = perf_transfer(MOST);
	for (int bytes = 8; bytes <= MOST;
		bytes = bytes == 8 ? 1024 : bytes * (perf_quick ? 1024 : 4)) {
		struct perf_case c = {.op = "acc",
			.shape = "-",
			.bytes = bytes,
			.unit = bytes > 8 ? TIMING_MBS : TIMING_NS,
			.ours = acc,
			.arg = &t};
		t.count[0] = bytes;
		perf_solo(&c);
	}
	perf_transfer_end(&t);
}

static void *counter; // at rank 0
static double taken;  // tickets of this rank

static void contended_add(void *arg, long n)
{
	(void)arg;
	long old;
	for (long i = 0; i < n; i++) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, counter, 1, 0);
	taken += (double)n;
}

PERF_BODY(fetch_add, long old; ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, t->theirs, 1, perf_peer))
PERF_BODY(swap, int mine = 1; ARMCI_Rmw(ARMCI_SWAP, &mine, t->theirs + 64, 0, perf_peer))

void perf_rmw(void)
{
	struct perf_transfer t = perf_transfer(4096);
	struct perf_case c = {.shape = "-", .bytes = 8, .unit = TIMING_NS, .arg = &t};
	c.op = "fetch-add", c.ours = fetch_add;
	perf_solo(&c);
	c.op = "swap", c.bytes = 4, c.ours = swap;
	perf_solo(&c);
	counter = (char *)t.all[0] + 256;
	c.op = "fetch-add-contended", c.bytes = 8, c.ours = contended_add, c.unit = TIMING_MOPS,
	c.lasting = perf_far;
	perf_all(&c);
	ARMCI_Barrier();
	long got = 0;
	ARMCI_Get(counter, &got, sizeof got, 0);
	perf_check("fetch-add", (double)got, perf_total(taken));
	perf_transfer_end(&t);
}

PERF_BODY(lock_peer, ARMCI_Lock(0, perf_peer); ARMCI_Unlock(0, perf_peer))

// A mutex of rank 0, which guards a plain counter where all can reach it.
static void lock_first(void *arg, long n)
{
	struct perf_transfer *t = arg;
	long *guarded = t->all[0];
	for (long i = 0; i < n; i++) {
		ARMCI_Lock(0, 0);
		if (!perf_far)
			++*guarded;
		ARMCI_Unlock(0, 0);
	}
}

// No clock is shared between nodes. Within one, reading it takes longer than an operation.
double perf_compete(perf_body body, void *arg, bool takes_part, double *rate, double *share)
{
	double seconds = perf_pace(0.02, 0.2), made = 0, ranks = perf_total(takes_part);
	int some = perf_far ? 1 : 16;
	ARMCI_Barrier();
	for (double end = timing_now() + seconds; takes_part && timing_now() < end; made += some)
		body(arg, some);
	double all = perf_total(made), least = -perf_greatest(takes_part ? -made : -all);
	*rate = all / seconds / 1e6;
	*share = all > 0 ? least * ranks / all : 0;
	return made;
}

static void contended(struct perf_case c)
{
	double rate[TIMING_REPS_MAX], raw_rate[TIMING_REPS_MAX], share[TIMING_REPS_MAX],
		raw_share[TIMING_REPS_MAX], made = 0;
	struct perf_transfer *t = c.arg;
	c.op = "lock-contended", c.unit = TIMING_MOPS, c.ours = lock_first;
	bool beside = !perf_alone && perf_baseline(&c, 0) && c.raw;
	for (int i = 0; i < perf_reps; i++) {
		made += perf_compete(c.ours, t, true, &rate[i], &share[i]);
		if (beside)
			perf_compete(c.raw, t, true, &raw_rate[i], &raw_share[i]);
	}
	perf_figures(&c, rate, beside ? raw_rate : NULL, perf_reps);
	c.op = "lock-least-share", c.unit = TIMING_SHARE;
	perf_figures(&c, share, beside ? raw_share : NULL, perf_reps);
	ARMCI_Barrier();
	double want = perf_total(made);
	if (!perf_far)
		perf_check("lock", (double)*(long *)t->all[0], want);
}

void perf_lock(void)
{
	struct perf_transfer t = perf_transfer(4096);
	struct perf_case c = {.op = "lock+unlock",
		.shape = "-",
		.unit = TIMING_NS,
		.ours = lock_peer,
		.arg = &t};
	ARMCI_Create_mutexes(1);
	perf_solo(&c);
	if (perf_far) {
		// each as often: the slowest counts, so being on the mutex's node gains nothing
		c.op = "lock-contended", c.ours = lock_first;
		c.unit = TIMING_MOPS, c.lasting = true;
		perf_all(&c);
	} else if (perf_n > 1) {
		contended(c);
	}
	ARMCI_Destroy_mutexes();
	perf_transfer_end(&t);
}
