// SPDX-License-Identifier: BSD-3-Clause
// How much of a nonblocking transfer disappears behind computation of its caller. The computation
// is a fixed amount of work: whatever takes the caller's core makes it longer.
#include <stdio.h>

#include "perf.h"

enum { LEAST = 64 << 10, MOST = 4 << 20 };

static void start_ours(struct perf_overlap *o)
{
	ARMCI_INIT_HANDLE(&o->handle);
	if (o->get)
		ARMCI_NbGet(o->t.theirs, o->t.mine, o->t.count[0], perf_peer, &o->handle);
	else
		ARMCI_NbPut(o->t.mine, o->t.theirs, o->t.count[0], perf_peer, &o->handle);
}

static void end_ours(struct perf_overlap *o)
{
	ARMCI_Wait(&o->handle);
	if (!o->get)
		ARMCI_Fence(perf_peer);
}

static double hidden(struct perf_overlap *o, void (*start)(struct perf_overlap *o),
	void (*end)(struct perf_overlap *o))
{
	double alone = 0, work = 0, both = 0;
	for (int i = 0; i < (perf_quick ? 2 : 10); i++) {
		double t0 = timing_now();
		start(o);
		end(o);
		double t1 = timing_now();
		long rounds = timing_rounds(2 * (t1 - t0));
		double t2 = timing_now();
		timing_compute(rounds);
		double t3 = timing_now();
		start(o);
		timing_compute(rounds);
		end(o);
		both += timing_now() - t3;
		alone += t1 - t0;
		work += t3 - t2;
	}
	return 100 * (1 - (both - work) / alone);
}

void perf_overlap_rows(struct perf_overlap *o, const char *op, int bytes)
{
	double ours[TIMING_REPS_MAX], raw[TIMING_REPS_MAX];
	o->t.count[0] = bytes;
	perf_overlap_baseline(o);
	bool beside = o->raw_start && !perf_alone;
	ARMCI_Barrier();
	for (int i = -1; i < perf_reps && perf_me == 0; i++) { // the first is to warm up
		ours[i < 0 ? 0 : i] = hidden(o, start_ours, end_ours);
		if (beside)
			raw[i < 0 ? 0 : i] = hidden(o, o->raw_start, o->raw_end);
	}
	struct perf_case c = {.op = op, .shape = "-", .bytes = bytes, .unit = TIMING_PERCENT};
	perf_figures(&c, ours, beside ? raw : NULL, perf_reps);
	ARMCI_Barrier();
}

void perf_overlap(void)
{
	if (!perf_far) {
		if (perf_me == 0)
			fprintf(stderr,
				"armci_perf worker: no overlap within a node, where a transfer is "
				"a copy by its caller\n");
		return;
	}
	struct perf_overlap o = {.t = perf_transfer(MOST)};
	for (int bytes = LEAST; bytes <= (int)perf_pace(LEAST, MOST); bytes *= 8) {
		o.get = false;
		perf_overlap_rows(&o, "overlap-put", bytes);
		o.get = true;
		perf_overlap_rows(&o, "overlap-get", bytes);
	}
	perf_transfer_end(&o.t);
}
