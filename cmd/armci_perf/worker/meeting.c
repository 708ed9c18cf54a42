// SPDX-License-Identifier: BSD-3-Clause
// Ranks of different nodes meeting: locks beside fetch-and-add, all ranks wanting the same lock, with the share each
// gets, and barriers beside a round trip of a raw socket.
#include "perf.h"

#include <stdlib.h>

#include "wire.h"

struct meeting {
	char **theirs;
	struct perf_wire wire;
	enum perf_style style;
	double clock;
};

static void lock_unlock(void *arg, long n)
{
	(void)arg;
	for (long i = 0; i < n; i++) {
		ARMCI_Lock(0, perf_peer);
		ARMCI_Unlock(0, perf_peer);
	}
}

static void fetch_add(void *arg, long n)
{
	struct meeting *m = arg;
	for (long i = 0; i < n; i++) {
		long old;
		ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, m->theirs[perf_peer], 1, perf_peer);
	}
}

// Everybody locks and unlocks rank 0's mutex for so long; how often this rank did. No clock is shared between nodes.
static double compete(double seconds)
{
	double made = 0;
	ARMCI_Barrier();
	for (double end = perf_now() + seconds; perf_now() < end; made++) {
		ARMCI_Lock(0, 0);
		ARMCI_Unlock(0, 0);
	}
	return made;
}

static void contended(void)
{
	double rate[PERF_REPS_MAX], share[PERF_REPS_MAX], seconds;
	perf_pace(&seconds, 0.02, 0.2);
	for (int i = 0; i < perf_reps; i++) {
		double made = compete(seconds), all = perf_total(made);
		rate[i] = all / seconds / 1e6;
		share[i] = -perf_greatest(-made) * perf_n / all;
	}
	struct perf_case c = {.op = "remote-lock-contended", .shape = "-", .unit = PERF_MOPS};
	perf_figures(&c, rate, NULL, perf_reps);
	c.op = "remote-lock-least-share", c.unit = PERF_SHARE;
	perf_figures(&c, share, NULL, perf_reps);
}

static void barriers(void *arg, long n)
{
	struct meeting *m = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++) armci_msg_barrier();
	m->clock += perf_now() - begin;
}

// Rank 0 asks, a thread of its peer answers: the peer itself has nothing to do.
static void round_trips(void *arg, long n)
{
	struct meeting *m = arg;
	if (m->wire.fd < 0)
		return;
	perf_wire_style(&m->wire, m->style);
	double begin = perf_now();
	for (long i = 0; i < n; i++) perf_wire_ask(&m->wire, 8, 32);
	m->clock += perf_now() - begin;
	perf_wire_style(&m->wire, PERF_ASLEEP);
}

void perf_remote_meeting(void)
{
	void **all = perf_malloc(4096);
	struct meeting m = {.theirs = (char **)all, .wire = perf_wire_open(4096, perf_peer)};
	ARMCI_Create_mutexes(1);
	struct perf_case c = {.shape = "-", .unit = PERF_NS, .arg = &m};
	c.op = "remote-lock+unlock", c.ours = lock_unlock, c.raw = fetch_add;
	perf_solo(&c);
	contended();
	c.ours = barriers, c.raw = round_trips, c.clock = &m.clock;
	c.op = "remote-barrier/mixed", m.style = PERF_MIXED;
	perf_all(&c);
	c.op = "remote-barrier/spinning", m.style = PERF_SPINNING;
	perf_all(&c);
	c.op = "remote-barrier/blocking", m.style = PERF_ASLEEP;
	perf_all(&c);
	ARMCI_Destroy_mutexes();
	perf_wire_close(&m.wire);
	perf_free(all);
}
