// SPDX-License-Identifier: BSD-3-Clause
// Much data to or from a rank of another node beside a raw socket that moves as many bytes in one piece: contiguous, by
// one transfer and by many in a row, patches, scattered elements, batches of small puts.
#include <stdio.h>

#include "remote.h"

enum { LEADING = 1024, LARGEST = 512, STREAM = 16, FRAME = 32, HEAD = 24, MOST = 8 << 20 };

// The raw socket sends and gets back these many bytes beyond the heads of the library's frames.
static void beside(struct remote *r, double out, double back)
{
	r->out = (size_t)out + FRAME - HEAD;
	r->back = (size_t)back + FRAME;
}

static void nonblocking_gets(void *arg, long n)
{
	struct remote *r = arg;
	armci_hdl_t h[STREAM];
	double begin = perf_now();
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < r->each; k++) {
			ARMCI_INIT_HANDLE(&h[k]);
			ARMCI_NbGet(r->theirs, r->mine, r->count[0], perf_peer, &h[k]);
		}
		for (int k = 0; k < r->each; k++) ARMCI_Wait(&h[k]);
	}
	r->clock += perf_now() - begin;
}

static void streams(struct remote *r, int bytes)
{
	struct perf_case c = {.shape = "16", .bytes = bytes, .moves = (double)bytes * STREAM, .unit = PERF_MBS};
	r->each = STREAM;
	beside(r, bytes, 0);
	c.op = "remote-put-stream";
	remote_measure(r, c, remote_put, remote_fenced, remote_raw_puts);
	beside(r, 0, bytes);
	c.op = "remote-get-stream";
	remote_measure(r, c, NULL, nonblocking_gets, remote_raw_gets);
	r->each = 1;
}

void perf_remote_bandwidth(void)
{
	void **all = perf_malloc(MOST);
	struct remote r = remote_begin(all, MOST);
	for (int bytes = 1 << 10; bytes <= MOST; bytes *= perf_quick ? 16 : 2) {
		struct perf_case c = {.shape = "-", .bytes = bytes, .unit = PERF_MBS};
		r.count[0] = bytes;
		beside(&r, bytes, 0);
		c.op = "remote-put-bandwidth";
		remote_measure(&r, c, remote_put, remote_fenced, remote_raw);
		beside(&r, 0, bytes);
		c.op = "remote-get-bandwidth";
		remote_measure(&r, c, remote_get, remote_ours, remote_raw);
		if (bytes >= 1 << 20)
			streams(&r, bytes);
	}
	remote_finish(&r, all);
}

static void put_strided(struct remote *r) { ARMCI_PutS(r->mine, r->stride, r->theirs, r->stride, r->count, 1, perf_peer); }
static void get_strided(struct remote *r) { ARMCI_GetS(r->theirs, r->stride, r->mine, r->stride, r->count, 1, perf_peer); }

static void add_strided(struct remote *r)
{
	double one = 1;
	ARMCI_AccS(ARMCI_ACC_DBL, &one, r->mine, r->stride, r->theirs, r->stride, r->count, 1, perf_peer);
}

// The bytes go one way: to the peer for put and accumulate, whose fence is the answer; for get a request goes first.
void perf_remote_strided(void)
{
	size_t bytes = (size_t)LEADING * LARGEST * sizeof(double);
	void **all = perf_malloc(bytes);
	struct remote r = remote_begin(all, bytes);
	r.stride[0] = LEADING * sizeof(double);
	for (int n = 16; n <= LARGEST; n *= perf_quick ? 8 : 2) {
		char shape[32];
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		struct perf_case c = {.shape = shape, .bytes = 8.0 * n * n, .unit = PERF_NS};
		r.count[0] = n * (int)sizeof(double);
		r.count[1] = n;
		beside(&r, c.bytes + 16, 0); // 16 bytes of strides and counts
		c.op = "remote-put-strided";
		remote_measure(&r, c, put_strided, remote_fenced, remote_raw);
		c.op = "remote-acc-strided";
		remote_measure(&r, c, add_strided, remote_fenced, remote_raw);
		beside(&r, 16, c.bytes);
		c.op = "remote-get-strided";
		remote_measure(&r, c, get_strided, remote_ours, remote_raw);
	}
	remote_finish(&r, all);
}

// Every 17th double, in an order that no prefetcher likes too much.
static struct remote scattered(void **all, void **mine, void **theirs)
{
	struct remote r = remote_begin(all, PERF_SCATTERED * PERF_APART * sizeof(double));
	for (int i = 0; i < PERF_SCATTERED; i++) {
		long at = (long)((i * 389) % PERF_SCATTERED) * PERF_APART;
		mine[i] = (double *)r.mine + at;
		theirs[i] = (double *)r.theirs + at;
	}
	r.put = (armci_giov_t){.src_ptr_array = mine, .dst_ptr_array = theirs, .ptr_array_len = PERF_SCATTERED, .bytes = 8};
	r.get = (armci_giov_t){.src_ptr_array = theirs, .dst_ptr_array = mine, .ptr_array_len = PERF_SCATTERED, .bytes = 8};
	return r;
}

static void put_vector(struct remote *r) { ARMCI_PutV(&r->put, 1, perf_peer); }
static void get_vector(struct remote *r) { ARMCI_GetV(&r->get, 1, perf_peer); }

static void put_batch(struct remote *r)
{
	for (int k = 0; k < PERF_SCATTERED; k++)
		ARMCI_NbPut(r->put.src_ptr_array[k], r->put.dst_ptr_array[k], 8, perf_peer, NULL);
}

static void put_aggregate(struct remote *r)
{
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	ARMCI_SET_AGGREGATE_HANDLE(&h);
	for (int k = 0; k < PERF_SCATTERED; k++)
		ARMCI_NbPut(r->put.src_ptr_array[k], r->put.dst_ptr_array[k], 8, perf_peer, &h);
	ARMCI_Wait(&h);
	ARMCI_UNSET_AGGREGATE_HANDLE(&h);
}

// Three bytes tell where one element goes.
static void beside_scattered(struct remote *r, bool get)
{
	double elements = 8.0 * PERF_SCATTERED, places = 3.0 * PERF_SCATTERED;
	if (get)
		beside(r, places, elements);
	else
		beside(r, elements + places, 0);
}

void perf_remote_vector(void)
{
	static void *mine[PERF_SCATTERED], *theirs[PERF_SCATTERED];
	void **all = perf_malloc(PERF_SCATTERED * PERF_APART * sizeof(double));
	struct remote r = scattered(all, mine, theirs);
	struct perf_case c = {.shape = "1000x8", .bytes = 8.0 * PERF_SCATTERED, .unit = PERF_NS};
	beside_scattered(&r, false);
	c.op = "remote-put-vector";
	remote_measure(&r, c, put_vector, remote_fenced, remote_raw);
	beside_scattered(&r, true);
	c.op = "remote-get-vector";
	remote_measure(&r, c, get_vector, remote_ours, remote_raw);
	remote_finish(&r, all);
}

void perf_remote_batch(void)
{
	static void *mine[PERF_SCATTERED], *theirs[PERF_SCATTERED];
	void **all = perf_malloc(PERF_SCATTERED * PERF_APART * sizeof(double));
	struct remote r = scattered(all, mine, theirs);
	struct perf_case c = {.shape = "1000x8", .bytes = 8.0 * PERF_SCATTERED, .unit = PERF_NS};
	beside_scattered(&r, false);
	c.op = "remote-nbput";
	remote_measure(&r, c, put_batch, remote_fenced, remote_raw);
	c.op = "remote-nbput-aggregate";
	remote_measure(&r, c, put_aggregate, remote_fenced, remote_raw);
	remote_finish(&r, all);
}
