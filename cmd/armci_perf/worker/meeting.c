// SPDX-License-Identifier: BSD-3-Clause
// Two ranks of different nodes meeting: locks beside fetch-and-add, both wanting the same lock, and barriers beside a
// round trip of a raw socket.
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

// Both ranks as often: the slower one counts, so being served first gains nothing.
static void contended(void *arg, long n)
{
	(void)arg;
	for (long i = 0; i < n; i++) {
		ARMCI_Lock(0, 0);
		ARMCI_Unlock(0, 0);
	}
}

// Rank 0 takes a mutex of its peer while that one takes it all the time, which needs no message; then alone.
static void beside_owner(struct meeting *m)
{
	double contended[PERF_REPS_MAX], alone[PERF_REPS_MAX], begin;
	int n = perf_quick ? 20 : 500;
	for (int i = 0; i < perf_reps; i++) {
		volatile long *stop = (volatile long *)m->theirs[perf_me];
		long one = 1;
		*stop = 0;
		ARMCI_Barrier();
		if (perf_me == 0) {
			lock_unlock(m, 3);
			begin = perf_now();
			lock_unlock(m, n);
			contended[i] = (perf_now() - begin) / n * 1e9;
			for (int r = 1; r < perf_n; r++) ARMCI_Put(&one, m->theirs[r], sizeof one, r);
		} else {
			while (!*stop) {
				ARMCI_Lock(0, perf_me);
				ARMCI_Unlock(0, perf_me);
			}
		}
		ARMCI_Barrier();
		begin = perf_now();
		if (perf_me == 0)
			lock_unlock(m, n);
		alone[i] = (perf_now() - begin) / n * 1e9;
		ARMCI_Barrier();
	}
	struct perf_case c = {.op = "remote-lock-beside-owner", .shape = "-", .unit = PERF_NS};
	perf_figures(&c, contended, alone, perf_reps);
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
	struct meeting m = {.theirs = (char **)all, .wire = perf_wire_open(4096, 1)};
	ARMCI_Create_mutexes(1);
	struct perf_case c = {.shape = "-", .unit = PERF_NS, .arg = &m};
	c.op = "remote-lock+unlock", c.ours = lock_unlock, c.raw = fetch_add;
	perf_solo(&c);
	beside_owner(&m);
	c.op = "remote-lock-contended", c.ours = contended, c.raw = NULL, c.unit = PERF_MOPS, c.lasting = true;
	perf_all(&c);
	c.unit = PERF_NS, c.lasting = false, c.ours = barriers, c.raw = round_trips, c.clock = &m.clock;
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
