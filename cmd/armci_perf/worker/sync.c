// SPDX-License-Identifier: BSD-3-Clause
// Barriers beside a bare sense-reversing barrier in shared memory; nonblocking puts, plain and collected under one
// handle, a thousand at a time.
#include "perf.h"

#include <stdlib.h>
#include <string.h>

static void barrier(void *arg, long n)
{
	(void)arg;
	for (long i = 0; i < n; i++) ARMCI_Barrier();
}

static void msg_barrier(void *arg, long n)
{
	(void)arg;
	for (long i = 0; i < n; i++) armci_msg_barrier();
}

static void raw_barrier(void *arg, long n)
{
	for (long i = 0; i < n; i++) perf_gate_pass(arg);
}

void perf_barriers(void)
{
	struct perf_gate gate = {.shared = perf_shared(sizeof(struct perf_barrier))};
	struct perf_case c = {.op = "barrier", .shape = "-", .unit = PERF_NS, .ours = barrier, .raw = raw_barrier, .arg = &gate};
	perf_all(&c);
	c.op = "msg-barrier", c.ours = msg_barrier;
	perf_all(&c);
	perf_shared_free(gate.shared);
}

enum { BATCH = 1000 };

struct batch {
	double *mine, *theirs;
	armci_hdl_t handle[BATCH];
};

// n batches each.
static void implicit(void *arg, long n)
{
	struct batch *b = arg;
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < BATCH; k++) ARMCI_NbPut(b->mine + k, b->theirs + k, 8, perf_peer, NULL);
		ARMCI_WaitAll();
	}
}

static void handles(void *arg, long n)
{
	struct batch *b = arg;
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < BATCH; k++) ARMCI_NbPut(b->mine + k, b->theirs + k, 8, perf_peer, &b->handle[k]);
		for (int k = 0; k < BATCH; k++) ARMCI_Wait(&b->handle[k]);
	}
}

static void aggregated(void *arg, long n)
{
	struct batch *b = arg;
	for (long i = 0; i < n; i++) {
		ARMCI_SET_AGGREGATE_HANDLE(&b->handle[0]);
		for (int k = 0; k < BATCH; k++) ARMCI_NbPut(b->mine + k, b->theirs + k, 8, perf_peer, &b->handle[0]);
		ARMCI_Wait(&b->handle[0]);
		ARMCI_UNSET_AGGREGATE_HANDLE(&b->handle[0]);
	}
}

static void raw_batch(void *arg, long n)
{
	struct batch *b = arg;
	void *(*copy)(void *, const void *, size_t) = memcpy;
	__asm__("" : "+r"(copy));
	for (long i = 0; i < n; i++)
		for (int k = 0; k < BATCH; k++) copy(b->theirs + k, b->mine + k, 8);
}

// One sample is a batch; the figures printed are per put.
static void per_put(const char *op, perf_body ours, struct batch *b)
{
	double mine[PERF_REPS_MAX], raw[PERF_REPS_MAX];
	long n = perf_quick ? 10 : 300;
	ARMCI_Barrier();
	for (int i = -1; i < perf_reps && perf_me == 0; i++) {
		double t0 = perf_now();
		ours(b, n);
		double t1 = perf_now();
		raw_batch(b, n);
		double t2 = perf_now();
		if (i < 0)
			continue; // the first is to warm up
		mine[i] = (t1 - t0) * 1e9 / (double)n / BATCH;
		raw[i] = (t2 - t1) * 1e9 / (double)n / BATCH;
	}
	struct perf_case c = {.op = op, .shape = "1000", .bytes = 8, .unit = PERF_NS};
	perf_figures(&c, mine, raw, perf_reps);
	ARMCI_Barrier();
}

void perf_nonblocking(void)
{
	void **all = perf_malloc(BATCH * sizeof(double));
	struct batch *b = calloc(1, sizeof *b);
	b->mine = perf_private(BATCH * sizeof(double));
	b->theirs = all[perf_peer];
	per_put("nbput-implicit", implicit, b);
	per_put("nbput-handles", handles, b);
	per_put("nbput-aggregate", aggregated, b);
	free(b->mine);
	free(b);
	perf_free(all);
}
