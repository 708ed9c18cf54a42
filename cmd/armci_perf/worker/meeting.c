// SPDX-License-Identifier: BSD-3-Clause
// Ranks of different nodes meeting: locks, alone and contended, and barriers, beside a round trip of a raw socket;
// a fence of all ranks beside the fence of one.
#include "perf.h"

#include <stdlib.h>
#include <string.h>

#include "wire.h"

struct meeting {
	char *mine, **theirs;
	struct perf_wire wire;
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

static void contended(void *arg, long n)
{
	(void)arg;
	for (long i = 0; i < n; i++) {
		ARMCI_Lock(0, 0);
		ARMCI_Unlock(0, 0);
	}
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
	perf_wire_style(&m->wire, true);
	double begin = perf_now();
	for (long i = 0; i < n; i++) perf_wire_ask(&m->wire, 8, 8);
	m->clock += perf_now() - begin;
	perf_wire_style(&m->wire, false);
}

static void fence_one(void *arg, long n)
{
	struct meeting *m = arg;
	for (long i = 0; i < n; i++) {
		ARMCI_Put(m->mine, m->theirs[perf_peer], 8, perf_peer);
		ARMCI_Fence(perf_peer);
	}
}

static void fence_all(void *arg, long n)
{
	struct meeting *m = arg;
	for (long i = 0; i < n; i++) {
		for (int r = 1; r < perf_n; r++) ARMCI_Put(m->mine, m->theirs[r], 8, r);
		ARMCI_AllFence();
	}
}

void perf_remote_meeting(void)
{
	void **all = perf_malloc(4096);
	struct meeting m = {.mine = perf_private(4096), .theirs = (char **)all, .wire = perf_wire_open(4096)};
	ARMCI_Create_mutexes(1);
	struct perf_case c = {.shape = "-", .unit = PERF_NS, .arg = &m};
	c.op = "remote-lock+unlock", c.ours = lock_unlock, c.raw = fetch_add;
	perf_solo(&c);
	c.op = "remote-fence-all", c.ours = fence_all, c.raw = fence_one;
	perf_solo(&c);
	c.op = "remote-lock-contended", c.ours = contended, c.raw = NULL, c.unit = PERF_MOPS;
	perf_all(&c);
	c.op = "remote-barrier", c.ours = barriers, c.raw = round_trips, c.unit = PERF_NS, c.clock = &m.clock;
	perf_all(&c);
	ARMCI_Destroy_mutexes();
	perf_wire_close(&m.wire);
	free(m.mine);
	perf_free(all);
}
