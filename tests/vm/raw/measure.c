// SPDX-License-Identifier: BSD-3-Clause
// Measures bare verbs between two hosts and prints lines of timing.h; the shape is the way to wait.
// It judges nothing.
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

enum { SAMPLES = 9, WINDOW = 16, RUNS = 64 };

// A thing to measure: does it n times.
struct kind {
	const char *name;
	enum ibv_wr_opcode opcode;
	void (*body)(struct link *l, const struct kind *k, size_t bytes, long n);
	bool rate;  // MB/s, not ns
	bool local; // the other end has no part in it
};

static void expect(enum ibv_wc_status status)
{
	if (status == IBV_WC_SUCCESS)
		return;
	fprintf(stderr, "completion: %s\n", ibv_wc_status_str(status));
	exit(1);
}

// One at a time. Small writes leave with the request.
static void single(struct link *l, const struct kind *k, size_t bytes, long n)
{
	struct ibv_sge list;
	struct ibv_send_wr w = link_request(l, k->opcode, &list, 0, 0, bytes);
	if (k->opcode == IBV_WR_RDMA_WRITE && bytes <= 64)
		w.send_flags |= IBV_SEND_INLINE;
	while (n-- > 0)
		link_do(l, &w);
}

// As many at a time as the window is wide.
static void stream(struct link *l, const struct kind *k, size_t bytes, long n)
{
	struct ibv_sge list;
	struct ibv_send_wr w = link_request(l, k->opcode, &list, 0, 0, bytes);
	long posted = 0;
	for (long done = 0; done < n; done++) {
		for (; posted < n && posted - done < WINDOW; posted++)
			link_post(l, &w);
		expect(link_wait(l, 1));
	}
}

// So many runs of `bytes` each, apart here and together there: a list of writes posted at once, of
// which only the last is signalled, each of so many runs.
static void runs(struct link *l, const struct kind *k, size_t bytes, long n, int together)
{
	struct ibv_sge list[RUNS];
	struct ibv_send_wr w[RUNS];
	int writes = RUNS / together;
	for (int i = 0; i < RUNS; i++) {
		struct ibv_send_wr one = link_request(l, k->opcode, &list[i], 2 * bytes * (size_t)i,
			bytes * (size_t)i, bytes);
		if (i % together == 0)
			w[i / together] = one;
	}
	for (int i = 0; i < writes; i++) {
		w[i].num_sge = together;
		w[i].next = i + 1 < writes ? &w[i + 1] : NULL;
		w[i].send_flags = i + 1 < writes ? 0 : IBV_SEND_SIGNALED;
	}
	while (n-- > 0)
		link_do(l, w);
}

static void chain(struct link *l, const struct kind *k, size_t bytes, long n)
{
	runs(l, k, bytes, n, 1);
}

static void gather(struct link *l, const struct kind *k, size_t bytes, long n)
{
	runs(l, k, bytes, n, LINK_GATHER);
}

static void registration(struct link *l, const struct kind *k, size_t bytes, long n)
{
	(void)k;
	while (n-- > 0) {
		struct ibv_mr *region = ibv_reg_mr(l->domain, l->memory, bytes,
			IBV_ACCESS_LOCAL_WRITE);
		if (!region || ibv_dereg_mr(region) != 0)
			link_fail("registration");
	}
}

static void copy(struct link *l, const struct kind *k, size_t bytes, long n)
{
	(void)k;
	while (n-- > 0)
		memcpy(l->memory, l->memory + RAW_MEMORY / 2, bytes);
}

// A kind as it is sampled.
struct loop {
	struct link *l;
	const struct kind *k;
	size_t bytes;
};

static double sample(void *arg, long n)
{
	const struct loop *p = arg;
	double begin = timing_now();
	p->k->body(p->l, p->k, p->bytes, n);
	return timing_now() - begin;
}

static void measure(struct link *l, const struct kind *k, size_t bytes, bool quick)
{
	struct loop loop = {l, k, bytes};
	struct timing_way way = {.sample = sample, .arg = &loop};
	struct timing_figure f = {k->name, "", l->asleep ? "sleeping" : "spinning", (double)bytes,
		2, k->rate ? TIMING_MBS : TIMING_NS};
	if (k->local)
		f.shape = "-", f.ranks = 1;
	way.n = timing_turns(sample, &loop, quick ? 0.003 : 0.05, 1);
	for (int i = 0; i < (quick ? 3 : SAMPLES); i++) {
		timing_repeat(&way, 1, i, 1);
		way.each[i] = timing_in_unit(f.unit, way.each[i], f.bytes);
	}
	timing_print(&f, way.each, NULL, quick ? 3 : SAMPLES);
}

static void measure_sizes(struct link *l, const struct kind *kinds, int n, size_t first, bool quick)
{
	for (int i = 0; i < n; i++)
		for (size_t bytes = first; bytes <= RAW_MEMORY / 2; bytes *= 4)
			measure(l, &kinds[i], bytes, quick);
}

void raw_measure(struct link *l, bool quick)
{
	static const struct kind eight[] = {{"write", IBV_WR_RDMA_WRITE, single, false, false},
		{"read", IBV_WR_RDMA_READ, single, false, false},
		{"fetch-add", IBV_WR_ATOMIC_FETCH_AND_ADD, single, false, false}};
	static const struct kind short_runs[] = {{"write-chain-64", IBV_WR_RDMA_WRITE, chain, false,
							 false},
		{"write-gather-64", IBV_WR_RDMA_WRITE, gather, false, false}};
	static const struct kind sized[] = {{"write", IBV_WR_RDMA_WRITE, single, true, false},
		{"read", IBV_WR_RDMA_READ, single, true, false},
		{"write-stream", IBV_WR_RDMA_WRITE, stream, true, false},
		{"read-stream", IBV_WR_RDMA_READ, stream, true, false}};
	static const struct kind local[] = {{"register", IBV_WR_RDMA_WRITE, registration, false,
						    true},
		{"copy", IBV_WR_RDMA_WRITE, copy, false, true}};
	measure_sizes(l, local, 2, 4096, quick);
	for (int asleep = 0; asleep < 2; asleep++) {
		l->asleep = asleep;
		for (int i = 0; i < 3; i++)
			measure(l, &eight[i], 8, quick);
		for (int i = 0; i < 2; i++)
			for (size_t bytes = 64; bytes <= 16384; bytes *= 4)
				measure(l, &short_runs[i], bytes, quick);
		measure_sizes(l, sized, 4, quick ? 65536 : 1024, quick);
	}
}
