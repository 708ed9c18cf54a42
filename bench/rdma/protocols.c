// SPDX-License-Identifier: BSD-3-Clause
// The protocols of puts and gets beside each other and beside one raw request that moves as many
// bytes: contiguous ones, and patches of an array, also packed by the program itself.
#include <stdio.h>
#include <string.h>

#include "rdma.h"

enum {
	LEADING = 1024,
	LARGEST = 512,
	MOST = 4 << 20,
	ARRAY = LEADING * LARGEST * 8,
	PACKED = LARGEST * LARGEST * 8
};

PERF_BODY(put, ARMCI_Put(t->mine, t->theirs, t->count[0], perf_peer); ARMCI_Fence(perf_peer))
PERF_BODY(get, ARMCI_Get(t->theirs, t->mine, t->count[0], perf_peer))

void perf_protocols(void)
{
	struct perf_transfer t = perf_transfer(MOST);
	for (int bytes = 1 << 10; bytes <= (int)perf_pace(64 << 10, MOST);
		bytes *= perf_quick ? 16 : 4) {
		struct rdma_contest k = {
			.c = {.shape = "-", .bytes = bytes, .unit = TIMING_MBS, .arg = &t}};
		t.count[0] = bytes;
		k.c.op = "protocol-put", k.c.ours = put;
		rdma_request(IBV_WR_RDMA_WRITE, (size_t)bytes);
		rdma_contest(&k);
		k.c.op = "protocol-get", k.c.ours = get;
		rdma_request(IBV_WR_RDMA_READ, (size_t)bytes);
		rdma_contest(&k);
	}
	perf_transfer_end(&t);
}

PERF_BODY(put_strided, ARMCI_PutS(t->mine, t->stride, t->theirs, t->stride, t->count, 1, perf_peer);
	  ARMCI_Fence(perf_peer))
PERF_BODY(get_strided, ARMCI_GetS(t->theirs, t->stride, t->mine, t->stride, t->count, 1, perf_peer))

// A packed patch lies behind the array, here and there.
static void put_packed(void *arg, long n)
{
	struct perf_transfer *t = arg;
	int row = t->count[0], rows = t->count[1];
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < rows; k++)
			memcpy(t->mine + ARRAY + k * row, t->mine + k * t->stride[0], (size_t)row);
		ARMCI_Put(t->mine + ARRAY, t->theirs + ARRAY, row * rows, perf_peer);
		ARMCI_Fence(perf_peer);
	}
}

static void get_packed(void *arg, long n)
{
	struct perf_transfer *t = arg;
	int row = t->count[0], rows = t->count[1];
	for (long i = 0; i < n; i++) {
		ARMCI_Get(t->theirs + ARRAY, t->mine + ARRAY, row * rows, perf_peer);
		for (int k = 0; k < rows; k++)
			memcpy(t->mine + k * t->stride[0], t->mine + ARRAY + k * row, (size_t)row);
	}
}

// A column of 256 doubles, in a row of such transfers, and where the program computes between
// them: the target's server sleeps then.
enum { COLUMN = 256 };
static const double computing = 500e-6; // no server looks for messages so long
static double seldom;

static void get_seldom(void *arg, long n)
{
	for (long i = 0; i < n; i++) {
		double begin = timing_now();
		while (timing_now() - begin < computing)
			continue;
		begin = timing_now();
		get_strided(arg, 1);
		seldom += timing_now() - begin;
	}
}

static void columns(struct perf_transfer *t)
{
	struct rdma_contest k = {.c = {.shape = "256x1", .unit = TIMING_NS, .arg = t}};
	k.c.bytes = 8.0 * COLUMN;
	t->count[0] = sizeof(double);
	t->count[1] = COLUMN;
	rdma_request(IBV_WR_RDMA_READ, (size_t)k.c.bytes);
	k.c.op = "protocol-column", k.c.ours = get_strided;
	rdma_contest(&k);
	k.c.op = "protocol-column-seldom", k.c.ours = get_seldom, k.c.clock = &seldom;
	rdma_contest(&k);
}

void perf_protocols_strided(void)
{
	struct perf_transfer t = perf_transfer(ARRAY + PACKED);
	t.stride[0] = LEADING * sizeof(double);
	columns(&t);
	for (int n = 16; n <= LARGEST; n *= perf_quick ? 8 : 2) {
		char shape[32];
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		struct rdma_contest k = {
			.c = {.shape = shape, .bytes = 8.0 * n * n, .unit = TIMING_NS, .arg = &t}};
		t.count[0] = n * (int)sizeof(double);
		t.count[1] = n;
		k.c.op = "protocol-put-strided", k.c.ours = put_strided, k.packed = put_packed,
		k.by_hand = rdma_put_by_hand;
		k.without = "push";
		rdma_request(IBV_WR_RDMA_WRITE, (size_t)k.c.bytes);
		rdma_contest(&k);
		k.c.op = "protocol-get-strided", k.c.ours = get_strided, k.packed = get_packed,
		k.by_hand = rdma_get_by_hand;
		k.without = NULL;
		rdma_request(IBV_WR_RDMA_READ, (size_t)k.c.bytes);
		rdma_contest(&k);
	}
	perf_transfer_end(&t);
}
