// SPDX-License-Identifier: BSD-3-Clause
// How much of a nonblocking transfer over RDMA disappears behind computation of its caller, beside raw requests that are
// posted before it and waited for after it.
#include "rdma.h"

enum { MOST = 4 << 20 };

struct transfer {
	struct rdma d;
	bool get;
	armci_hdl_t handle;
};

static void ours_begin(void *arg)
{
	struct transfer *t = arg;
	struct remote *r = &t->d.r;
	ARMCI_INIT_HANDLE(&t->handle);
	if (t->get)
		ARMCI_NbGet(r->theirs, r->mine, r->count[0], perf_peer, &t->handle);
	else
		ARMCI_NbPut(r->mine, r->theirs, r->count[0], perf_peer, &t->handle);
}

static void ours_wait(void *arg)
{
	struct transfer *t = arg;
	ARMCI_Wait(&t->handle);
	if (!t->get)
		ARMCI_Fence(perf_peer);
}

static void raw_begin(void *arg)
{
	struct transfer *t = arg;
	link_post(&t->d.link, &t->d.request);
}

static void raw_wait(void *arg)
{
	struct transfer *t = arg;
	if (link_wait(&t->d.link, 1) != IBV_WC_SUCCESS)
		link_fail("completion");
}

static void overlap(struct transfer *t, const char *op, int bytes)
{
	double ours[PERF_REPS_MAX], raw[PERF_REPS_MAX];
	t->d.r.count[0] = bytes;
	rdma_request(&t->d, t->get ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, (size_t)bytes);
	ARMCI_Barrier();
	for (int i = -1; i < perf_reps && perf_me == 0; i++) { // the first is to warm up
		ours[i < 0 ? 0 : i] = perf_hidden(t, ours_begin, ours_wait);
		raw[i < 0 ? 0 : i] = perf_hidden(t, raw_begin, raw_wait);
	}
	struct perf_case c = {.op = op, .shape = "-", .bytes = bytes, .unit = PERF_PERCENT};
	perf_figures(&c, ours, raw, perf_reps);
	ARMCI_Barrier();
}

void perf_rdma_overlap(void)
{
	static struct transfer t;
	void **all = perf_malloc(MOST);
	rdma_begin(&t.d, all, MOST);
	for (int bytes = 64 << 10; bytes <= (perf_quick ? 64 << 10 : MOST); bytes *= 8) {
		t.get = false;
		overlap(&t, "rdma-overlap-put", bytes);
		t.get = true;
		overlap(&t, "rdma-overlap-get", bytes);
	}
	rdma_finish(&t.d, all);
}
