// SPDX-License-Identifier: BSD-3-Clause
// Operations on a rank of another node beside a raw socket that moves as many bytes: latency, bandwidth, patches,
// scattered elements. The raw side polls its sockets while its samples run, as the library does while it waits.
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

enum { HEAD = 24, LEADING = 1024, LARGEST = 512, SCATTERED = 1000, STREAM = 16 };

// What one operation is: ours, and what the raw socket sends (beyond a head of HEAD bytes) and gets back for it.
struct remote {
	struct perf_wire wire;
	char *mine, *theirs;
	int stride[1], count[2];
	armci_giov_t put, get;
	size_t out, back;
	int each; // operations before a fence, or before the raw side waits for an answer
	void (*one)(struct remote *r);
	double clock;
};

static void put(struct remote *r) { ARMCI_Put(r->mine, r->theirs, r->count[0], perf_peer); }
static void get(struct remote *r) { ARMCI_Get(r->theirs, r->mine, r->count[0], perf_peer); }
static void put_strided(struct remote *r) { ARMCI_PutS(r->mine, r->stride, r->theirs, r->stride, r->count, 1, perf_peer); }
static void get_strided(struct remote *r) { ARMCI_GetS(r->theirs, r->stride, r->mine, r->stride, r->count, 1, perf_peer); }
static void put_vector(struct remote *r) { ARMCI_PutV(&r->put, 1, perf_peer); }
static void get_vector(struct remote *r) { ARMCI_GetV(&r->get, 1, perf_peer); }

static void add_strided(struct remote *r)
{
	double one = 1;
	ARMCI_AccS(ARMCI_ACC_DBL, &one, r->mine, r->stride, r->theirs, r->stride, r->count, 1, perf_peer);
}

static void fetch_add(struct remote *r)
{
	long old;
	ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, r->theirs, 1, perf_peer);
}

// Stores are followed by a fence: it, too, says that all has arrived.
static void ours_fenced(void *arg, long n)
{
	struct remote *r = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < r->each; k++) r->one(r);
		ARMCI_Fence(perf_peer);
	}
	r->clock += perf_now() - begin;
}

static void ours_alone(void *arg, long n)
{
	struct remote *r = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++)
		for (int k = 0; k < r->each; k++) r->one(r);
	r->clock += perf_now() - begin;
}

static void raw(void *arg, long n)
{
	struct remote *r = arg;
	perf_wire_style(&r->wire, true);
	double begin = perf_now();
	for (long i = 0; i < n; i++)
		for (int k = 1; k <= r->each; k++)
			perf_wire_ask(&r->wire, r->out, k < r->each && r->out > r->back ? 0 : r->back);
	r->clock += perf_now() - begin;
	perf_wire_style(&r->wire, false);
}

static void measure(struct remote *r, const char *op, const char *shape, double bytes, enum perf_unit unit,
	void (*one)(struct remote *r), perf_body ours, perf_body beside)
{
	struct perf_case c = {.op = op, .shape = shape, .bytes = bytes, .unit = unit, .ours = ours, .raw = beside, .arg = r,
		.clock = &r->clock};
	r->one = one;
	perf_solo(&c);
}

static struct remote begin(void **all, size_t bytes)
{
	struct remote r = {.wire = perf_wire_open(bytes + 4096), .mine = perf_private(bytes), .theirs = all[perf_peer], .each = 1};
	memset(r.mine, 0, bytes);
	return r;
}

static void finish(struct remote *r, void **all)
{
	perf_wire_close(&r->wire);
	free(r->mine);
	perf_free(all);
}

static void beside_bytes(struct remote *r, size_t out, size_t back)
{
	r->out = out;
	r->back = back;
}

static void empty_fences(void *arg, long n)
{
	struct remote *r = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++) ARMCI_Fence(perf_peer);
	r->clock += perf_now() - begin;
}

void perf_remote_small(void)
{
	void **all = perf_malloc(4096);
	struct remote r = begin(all, 4096);
	r.count[0] = 8;
	beside_bytes(&r, 8, 40);
	measure(&r, "remote-get", "-", 8, PERF_NS, get, ours_alone, raw);
	beside_bytes(&r, 24, 16);
	measure(&r, "remote-fetch-add", "-", 8, PERF_NS, fetch_add, ours_alone, raw);
	beside_bytes(&r, 40, 32);
	measure(&r, "remote-put+fence", "-", 8, PERF_NS, put, ours_fenced, raw);
	measure(&r, "remote-put", "-", 8, PERF_NS, put, ours_alone, NULL);
	measure(&r, "remote-fence-idle", "-", 0, PERF_NS, NULL, empty_fences, NULL);
	finish(&r, all);
}

void perf_remote_bandwidth(void)
{
	int most = 8 << 20;
	void **all = perf_malloc((size_t)most);
	struct remote r = begin(all, (size_t)most);
	for (int bytes = 1 << 10; bytes <= most; bytes *= perf_quick ? 16 : 4) {
		r.count[0] = bytes;
		r.each = 1;
		beside_bytes(&r, (size_t)bytes + 8, 32);
		measure(&r, "remote-put-bandwidth", "fenced", bytes, PERF_MBS, put, ours_fenced, raw);
		beside_bytes(&r, 8, (size_t)bytes + 32);
		measure(&r, "remote-get-bandwidth", "-", bytes, PERF_MBS, get, ours_alone, raw);
		if (bytes < 1 << 20)
			continue;
		r.each = STREAM;
		beside_bytes(&r, (size_t)bytes + 8, 32);
		measure(&r, "remote-put-stream", "16", (double)bytes * STREAM, PERF_MBS, put, ours_fenced, raw);
	}
	finish(&r, all);
}

void perf_remote_strided(void)
{
	size_t bytes = (size_t)LEADING * LARGEST * sizeof(double);
	void **all = perf_malloc(bytes);
	struct remote r = begin(all, bytes);
	r.stride[0] = LEADING * sizeof(double);
	for (int n = 16; n <= LARGEST; n *= perf_quick ? 8 : 2) {
		char shape[32];
		double moved = 8.0 * n * n;
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		r.count[0] = n * (int)sizeof(double);
		r.count[1] = n;
		beside_bytes(&r, (size_t)moved + 24, 32);
		measure(&r, "remote-put-strided", shape, moved, PERF_NS, put_strided, ours_fenced, raw);
		measure(&r, "remote-acc-strided", shape, moved, PERF_NS, add_strided, ours_fenced, raw);
		beside_bytes(&r, 24, (size_t)moved + 32);
		measure(&r, "remote-get-strided", shape, moved, PERF_NS, get_strided, ours_alone, raw);
	}
	finish(&r, all);
}

void perf_remote_vector(void)
{
	static void *mine[SCATTERED], *theirs[SCATTERED];
	void **all = perf_malloc(SCATTERED * 17 * sizeof(double));
	struct remote r = begin(all, SCATTERED * 17 * sizeof(double));
	for (int i = 0; i < SCATTERED; i++) {
		long at = (long)((i * 389) % SCATTERED) * 17;
		mine[i] = (double *)r.mine + at;
		theirs[i] = (double *)r.theirs + at;
	}
	r.put = (armci_giov_t){.src_ptr_array = mine, .dst_ptr_array = theirs, .ptr_array_len = SCATTERED, .bytes = 8};
	r.get = (armci_giov_t){.src_ptr_array = theirs, .dst_ptr_array = mine, .ptr_array_len = SCATTERED, .bytes = 8};
	beside_bytes(&r, 8 * SCATTERED + 3 * SCATTERED, 32); // three bytes tell where one element goes
	measure(&r, "remote-put-vector", "1000x8", 8.0 * SCATTERED, PERF_NS, put_vector, ours_fenced, raw);
	beside_bytes(&r, 3 * SCATTERED, 8 * SCATTERED + 32);
	measure(&r, "remote-get-vector", "1000x8", 8.0 * SCATTERED, PERF_NS, get_vector, ours_alone, raw);
	finish(&r, all);
}
