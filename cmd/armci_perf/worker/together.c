// SPDX-License-Identifier: BSD-3-Clause
// What all ranks do together: barriers, allocation, broadcast and sum, messages there and back,
// initialisation.
#include "perf.h"

#include <stdlib.h>
#include <string.h>

enum { MALLOC = 1 << 20, MESSAGE = 1 << 20, MOST = 4 << 20, TAG = 7 };

PERF_BODY(barrier, ARMCI_Barrier())
PERF_BODY(msg_barrier, armci_msg_barrier())

void perf_barriers(void)
{
	struct perf_case c = {.shape = "-", .unit = TIMING_NS};
	c.op = "barrier", c.ours = barrier;
	perf_all(&c);
	c.op = "msg-barrier", c.ours = msg_barrier;
	perf_all(&c);
}

static void malloc_free(void *arg, long n)
{
	void **all = arg;
	for (long i = 0; i < n; i++) {
		ARMCI_Malloc(all, MALLOC);
		ARMCI_Free(all[perf_me]);
	}
}

PERF_BODY(malloc_free_local, ARMCI_Free_local(ARMCI_Malloc_local(MALLOC)))

void perf_memory(void)
{
	void **all = calloc((size_t)perf_n, sizeof *all);
	struct perf_case c = {.shape = "-", .bytes = MALLOC, .unit = TIMING_NS, .arg = all};
	c.op = "malloc+free", c.ours = malloc_free;
	perf_all(&c);
	c.op = "malloc+free-local", c.ours = malloc_free_local;
	perf_all(&c);
	free(all);
}

void perf_half_trips(struct perf_transfer *t, long n, perf_turn say, perf_turn hear)
{
	if (perf_me != 0 && perf_me != perf_n / 2)
		return;
	for (long i = 0; i < ((n + 1) & ~1l); i++) ((i & 1) == (perf_me != 0) ? say : hear)(t);
}

static void send_message(struct perf_transfer *t)
{
	armci_msg_snd(TAG, t->mine, t->count[0], perf_peer);
}

static void receive_message(struct perf_transfer *t)
{
	int got;
	armci_msg_rcv(TAG, t->mine, t->count[0], &got, perf_peer);
}

static void half_trips(void *arg, long n)
{
	perf_half_trips(arg, n, send_message, receive_message);
}

void perf_message(void)
{
	struct perf_transfer t = perf_transfer(MESSAGE);
	for (int bytes = 8; perf_n > 1 && bytes <= MESSAGE; bytes *= perf_quick ? 64 : 4) {
		struct perf_case c = {.op = "message",
			.shape = "half-trip",
			.bytes = bytes,
			.unit = TIMING_NS,
			.ours = half_trips,
			.arg = &t};
		t.count[0] = bytes;
		perf_all(&c);
	}
	perf_transfer_end(&t);
}

// Each call begins with all ranks at the same point, and only the call counts.
#define COLLECTIVE(name, call) PERF_COUNTED(name, t->clock, armci_msg_barrier(), call, (void)0)
COLLECTIVE(bcast, armci_msg_bcast(t->mine, t->count[0], 0))
COLLECTIVE(sum, armci_msg_dgop((double *)(void *)t->mine, t->count[0] / 8, (char *)"+"))

// Every rank contributes rank + i: the sum is known. Then rank 0's data must arrive everywhere.
static void right(struct perf_transfer *t)
{
	double *x = (double *)(void *)t->mine, wrong = 0;
	t->count[0] = MOST;
	for (int i = 0; i < MOST / 8; i++) x[i] = perf_me + i % 1000;
	sum(t, 1);
	for (int i = 0; i < MOST / 8; i++)
		wrong += x[i] != perf_n * (perf_n - 1) / 2 + perf_n * (i % 1000);
	perf_check("gop", perf_total(wrong), 0);
	wrong = 0;
	for (int i = 0; i < MOST / 8; i++) x[i] = perf_me ? -1 : i;
	bcast(t, 1);
	for (int i = 0; i < MOST / 8; i++) wrong += x[i] != i;
	perf_check("bcast", perf_total(wrong), 0);
	memset(x, 0, MOST);
}

void perf_collective(void)
{
	struct perf_transfer t = perf_transfer(MOST);
	right(&t);
	for (int bytes = 8; bytes <= MOST; bytes *= perf_quick ? 64 : 2) {
		struct perf_case c = {.shape = "-",
			.bytes = bytes,
			.unit = TIMING_NS,
			.arg = &t,
			.clock = &t.clock};
		t.count[0] = bytes;
		c.op = "bcast", c.ours = bcast;
		perf_all(&c);
		c.op = "gop-sum", c.ours = sum;
		perf_all(&c);
	}
	perf_transfer_end(&t);
}

void perf_init(void)
{
	double ns = perf_greatest(perf_init_seconds * 1e9);
	struct perf_case c = {.op = "init", .shape = "-", .unit = TIMING_NS};
	perf_figures(&c, &ns, NULL, 1);
}
