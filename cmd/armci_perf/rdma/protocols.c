// SPDX-License-Identifier: BSD-3-Clause
// The protocols of puts and gets beside each other and beside one raw request that moves as many bytes: contiguous ones,
// and patches of an array, also packed by the program itself.
#include <stdio.h>
#include <string.h>

#include "rdma.h"

enum { LEADING = 1024, LARGEST = 512, MOST = 4 << 20 };

void perf_rdma_contiguous(void)
{
	static struct rdma d;
	void **all = perf_malloc(MOST);
	rdma_begin(&d, all, MOST);
	for (int bytes = 1 << 10; bytes <= (perf_quick ? 64 << 10 : MOST); bytes *= perf_quick ? 16 : 4) {
		struct rdma_contest put = {.c = {.op = "rdma-put", .shape = "-", .bytes = bytes, .unit = PERF_MBS}, .one = remote_put,
			.ours = remote_fenced};
		struct rdma_contest get = put;
		get.c.op = "rdma-get", get.one = remote_get, get.ours = remote_ours;
		d.r.count[0] = bytes;
		rdma_request(&d, IBV_WR_RDMA_WRITE, (size_t)bytes);
		rdma_contest(&d, &put);
		rdma_request(&d, IBV_WR_RDMA_READ, (size_t)bytes);
		rdma_contest(&d, &get);
	}
	rdma_finish(&d, all);
}

static void put_strided(struct remote *r) { ARMCI_PutS(r->mine, r->stride, r->theirs, r->stride, r->count, 1, perf_peer); }
static void get_strided(struct remote *r) { ARMCI_GetS(r->theirs, r->stride, r->mine, r->stride, r->count, 1, perf_peer); }

// A packed patch lies behind the array, here and there.
static char *packed_at(char *array) { return array + (size_t)LEADING * LARGEST * sizeof(double); }

static void put_packed(void *arg, long n)
{
	struct remote *r = arg;
	int row = r->count[0], rows = r->count[1];
	double begin = perf_now();
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < rows; k++)
			memcpy(packed_at(r->mine) + (size_t)k * (size_t)row, r->mine + (size_t)k * (size_t)r->stride[0], (size_t)row);
		ARMCI_Put(packed_at(r->mine), packed_at(r->theirs), row * rows, perf_peer);
		ARMCI_Fence(perf_peer);
	}
	r->clock += perf_now() - begin;
}

static void get_packed(void *arg, long n)
{
	struct remote *r = arg;
	int row = r->count[0], rows = r->count[1];
	double begin = perf_now();
	for (long i = 0; i < n; i++) {
		ARMCI_Get(packed_at(r->theirs), packed_at(r->mine), row * rows, perf_peer);
		for (int k = 0; k < rows; k++)
			memcpy(r->mine + (size_t)k * (size_t)r->stride[0], packed_at(r->mine) + (size_t)k * (size_t)row, (size_t)row);
	}
	r->clock += perf_now() - begin;
}

void perf_rdma_strided(void)
{
	static struct rdma d;
	size_t bytes = (size_t)LEADING * LARGEST * sizeof(double) + sizeof(double[LARGEST][LARGEST]);
	void **all = perf_malloc(bytes);
	rdma_begin(&d, all, bytes);
	d.r.stride[0] = LEADING * sizeof(double);
	for (int n = 16; n <= LARGEST; n *= perf_quick ? 8 : 2) {
		char shape[32];
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		struct rdma_contest put = {.c = {.op = "rdma-put-strided", .shape = shape, .bytes = 8.0 * n * n, .unit = PERF_NS},
			.one = put_strided, .ours = remote_fenced, .packed = put_packed, .by_hand = rdma_put_by_hand, .without = "push"};
		struct rdma_contest get = put;
		get.c.op = "rdma-get-strided", get.one = get_strided, get.ours = remote_ours, get.packed = get_packed, get.by_hand = rdma_get_by_hand;
		get.without = NULL;
		d.r.count[0] = n * (int)sizeof(double);
		d.r.count[1] = n;
		rdma_request(&d, IBV_WR_RDMA_WRITE, (size_t)put.c.bytes);
		rdma_contest(&d, &put);
		rdma_request(&d, IBV_WR_RDMA_READ, (size_t)put.c.bytes);
		rdma_contest(&d, &get);
	}
	rdma_finish(&d, all);
}
