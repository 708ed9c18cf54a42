// SPDX-License-Identifier: BSD-3-Clause
// Measures bare verbs between two hosts and prints lines of CSV: operation, way to wait, bytes, unit, and the median,
// the least and the greatest of several samples. Each sample lasts long enough for the clock. It judges nothing.
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLES = 9, WINDOW = 16, CHAIN = 64 };

// A thing to measure: does it n times.
struct kind {
	const char *name;
	enum ibv_wr_opcode opcode;
	void (*body)(struct link *l, const struct kind *k, size_t bytes, long n);
	bool rate; // MB/s, not microseconds
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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

// A list of writes of `bytes` each, posted at once; only the last is signalled.
static void chain(struct link *l, const struct kind *k, size_t bytes, long n)
{
	struct ibv_sge list[CHAIN];
	struct ibv_send_wr w[CHAIN];
	for (int i = 0; i < CHAIN; i++) {
		w[i] = link_request(l, k->opcode, &list[i], 2 * bytes * (size_t)i, bytes * (size_t)i, bytes);
		w[i].next = i + 1 < CHAIN ? &w[i + 1] : NULL;
		w[i].send_flags = i + 1 < CHAIN ? 0 : IBV_SEND_SIGNALED;
	}
	while (n-- > 0)
		link_do(l, w);
}

static double seconds(struct link *l, const struct kind *k, size_t bytes, long n)
{
	double begin = now();
	k->body(l, k, bytes, n);
	return now() - begin;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void measure(struct link *l, const struct kind *k, size_t bytes, bool quick)
{
	double figures[SAMPLES], least = quick ? 0.002 : 0.05;
	long n = 1;
	int samples = quick ? 3 : SAMPLES;
	while (seconds(l, k, bytes, n) < least) // which warms everything up
		n *= 2;
	for (int i = 0; i < samples; i++) {
		double each = seconds(l, k, bytes, n) / (double)n;
		figures[i] = k->rate ? (double)bytes / each * 1e-6 : each * 1e6;
	}
	qsort(figures, (size_t)samples, sizeof figures[0], by_size);
	printf("%s,%s,%zu,%s,%.4g,%.4g,%.4g\n", k->name, l->asleep ? "sleeping" : "spinning", bytes,
		k->rate ? "MB/s" : "us", figures[samples / 2], figures[0], figures[samples - 1]);
	fflush(stdout);
}

void raw_measure(struct link *l, bool quick)
{
	static const struct kind eight[] = {{"write", IBV_WR_RDMA_WRITE, single, false},
		{"read", IBV_WR_RDMA_READ, single, false}, {"fetch-add", IBV_WR_ATOMIC_FETCH_AND_ADD, single, false}};
	static const struct kind sized[] = {{"write", IBV_WR_RDMA_WRITE, single, true},
		{"read", IBV_WR_RDMA_READ, single, true}, {"write-stream", IBV_WR_RDMA_WRITE, stream, true},
		{"read-stream", IBV_WR_RDMA_READ, stream, true}};
	static const struct kind chained = {"write-chain-64", IBV_WR_RDMA_WRITE, chain, false};
	printf("operation,wait,bytes,unit,median,least,most\n");
	for (int asleep = 0; asleep < 2; asleep++) {
		l->asleep = asleep;
		for (int i = 0; i < 3; i++)
			measure(l, &eight[i], 8, quick);
		for (size_t bytes = 64; bytes <= 16384; bytes *= 4)
			measure(l, &chained, bytes, quick);
		for (int i = 0; i < 4; i++)
			for (size_t bytes = quick ? 65536 : 1024; bytes <= RAW_MEMORY / 2; bytes *= 4)
				measure(l, &sized[i], bytes, quick);
	}
}
