// SPDX-License-Identifier: BSD-3-Clause
// Fences by the number of nodes that something has been stored at: beside the fence of one node,
// and, together with the stores, beside raw writes to as many nodes that are posted before the
// first is waited for. One rank at a time does so, and all at once. Each rank has a connection by
// bare verbs to every other. It judges nothing.
#include <stdio.h>
#include <stdlib.h>

#include "dial.h"
#include "rdma.h"

enum { MOST_RANKS = 64, BYTES = 8 };

struct fences {
	char *mine, **theirs;
	int nodes; // that something is stored at: the ranks after this one
	double clock;
	struct link link[MOST_RANKS]; // by rank, as all below
	struct ibv_send_wr request[MOST_RANKS];
	struct ibv_sge list[MOST_RANKS];
};

static int after(int k) { return (perf_me + k) % perf_n; }

static void put_all(struct fences *f, int nodes)
{
	for (int k = 1; k <= nodes; k++) ARMCI_Put(f->mine, f->theirs[after(k)], BYTES, after(k));
}

#define F ((struct fences *)arg)
PERF_COUNTED(fence_one, F->clock, put_all(F, 1), ARMCI_Fence(after(1)), (void)0)
PERF_COUNTED(fence_all, F->clock, put_all(F, F->nodes), ARMCI_AllFence(), (void)0)
PERF_BODY(put_and_fence, put_all(F, F->nodes); ARMCI_AllFence())

static void write_and_wait(void *arg, long n)
{
	struct fences *f = arg;
	for (long i = 0; i < n; i++) {
		for (int k = 1; k <= f->nodes; k++)
			link_post(&f->link[after(k)], &f->request[after(k)]);
		for (int k = 1; k <= f->nodes; k++)
			if (link_wait(&f->link[after(k)], 1) != IBV_WC_SUCCESS)
				link_fail("completion");
	}
}

// Connects pair by pair, in an order that cannot deadlock.
static void connect_all(struct fences *f)
{
	for (int low = 0; low < perf_n; low++)
		for (int high = low + 1; high < perf_n; high++) {
			int to = perf_me == low ? high : low;
			if (perf_me != low && perf_me != high)
				continue;
			link_open(&f->link[to], perf_me == low ? perf_dial(high) : perf_answer(low),
				BYTES);
			f->request[to] = link_request(&f->link[to], IBV_WR_RDMA_WRITE, &f->list[to],
				0, 0, BYTES);
			f->request[to].send_flags |= IBV_SEND_INLINE;
		}
}

static void rows(struct fences *f)
{
	char nodes[16];
	struct perf_case c = {.op = "fence-nodes/one",
		.shape = nodes,
		.unit = TIMING_NS,
		.arg = f,
		.clock = &f->clock,
		.raw_clock = &f->clock,
		.ours = fence_all,
		.raw = fence_one};
	struct perf_case beside = {.op = "put+fence-nodes",
		.shape = nodes,
		.unit = TIMING_NS,
		.arg = f,
		.ours = put_and_fence,
		.raw = write_and_wait};
	for (f->nodes = 1; f->nodes < perf_n; f->nodes++) {
		snprintf(nodes, sizeof nodes, "%dx%d", f->nodes, BYTES);
		c.bytes = beside.bytes = f->nodes * BYTES;
		perf_solo(&c);
		perf_solo(&beside);
	}
	f->nodes = perf_n - 1;
	beside.op = "put+fence-nodes/together";
	perf_all(&beside);
}

void perf_fences(void)
{
	void **all = perf_malloc(64);
	struct fences *f = calloc(1, sizeof *f);
	perf_need(f != NULL, "memory");
	if (perf_n > MOST_RANKS)
		ARMCI_Error("too many ranks to fence", perf_n);
	f->mine = perf_private(64);
	f->theirs = (char **)all;
	connect_all(f);
	rows(f);
	for (int k = 1; k < perf_n; k++) link_close(&f->link[after(k)]);
	free(f->mine);
	free(f);
	perf_free(all);
}
