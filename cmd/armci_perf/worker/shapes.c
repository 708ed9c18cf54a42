// SPDX-License-Identifier: BSD-3-Clause
// What is not contiguous: n by n patches of doubles, 1000 scattered doubles, batches of 1000
// nonblocking puts. The leading dimension is larger than a patch, so rows never touch.
#include <stdio.h>
#include <stdlib.h>

#include "perf.h"

enum { LEADING = 600, LARGEST = 512, SCATTERED = 1000, APART = 17 };

static double one = 1;

PERF_FENCED(put_strided,
	ARMCI_PutS(t->mine, t->stride, t->theirs, t->stride, t->count, 1, perf_peer))
PERF_BODY(get_strided, ARMCI_GetS(t->theirs, t->stride, t->mine, t->stride, t->count, 1, perf_peer))
PERF_FENCED(acc_strided,
	ARMCI_AccS(ARMCI_ACC_DBL, &one, t->mine, t->stride, t->theirs, t->stride, t->count, 1,
		perf_peer))

void perf_strided(void)
{
	struct perf_transfer t = perf_transfer((size_t)LEADING * LARGEST * sizeof(double));
	t.stride[0] = LEADING * sizeof(double);
	for (int n = 1; n <= LARGEST; n *= n == 1 ? 4 : perf_quick ? 8 : 2) {
		char shape[32];
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		struct perf_case c = {.shape = shape,
			.bytes = 8.0 * n * n,
			.unit = TIMING_NS,
			.arg = &t};
		t.count[0] = n * (int)sizeof(double);
		t.count[1] = n;
		c.op = "put-strided", c.ours = put_strided;
		perf_solo(&c);
		c.op = "get-strided", c.ours = get_strided;
		perf_solo(&c);
		c.op = "acc-strided", c.ours = acc_strided;
		perf_solo(&c);
	}
	perf_transfer_end(&t);
}

PERF_FENCED(put_vector, ARMCI_PutV(&t->put, 1, perf_peer))
PERF_BODY(get_vector, ARMCI_GetV(&t->get, 1, perf_peer))

// Every 17th double, in an order that no prefetcher likes too much.
static struct perf_transfer scattered(void **mine, void **theirs)
{
	struct perf_transfer t = perf_transfer(SCATTERED * APART * sizeof(double));
	for (int i = 0; i < SCATTERED; i++) {
		long at = (long)((i * 389) % SCATTERED) * APART;
		mine[i] = (double *)t.mine + at;
		theirs[i] = (double *)t.theirs + at;
	}
	t.put = (armci_giov_t){.src_ptr_array = mine,
		.dst_ptr_array = theirs,
		.ptr_array_len = SCATTERED,
		.bytes = 8};
	t.get = (armci_giov_t){.src_ptr_array = theirs,
		.dst_ptr_array = mine,
		.ptr_array_len = SCATTERED,
		.bytes = 8};
	return t;
}

void perf_vector(void)
{
	static void *mine[SCATTERED], *theirs[SCATTERED];
	struct perf_transfer t = scattered(mine, theirs);
	struct perf_case c = {.shape = "1000x8",
		.bytes = 8.0 * SCATTERED,
		.unit = TIMING_NS,
		.arg = &t};
	c.op = "put-vector", c.ours = put_vector;
	perf_solo(&c);
	c.op = "get-vector", c.ours = get_vector;
	perf_solo(&c);
	perf_transfer_end(&t);
}

static void *source(const struct perf_transfer *t, int k) { return t->put.src_ptr_array[k]; }
static void *target(const struct perf_transfer *t, int k) { return t->put.dst_ptr_array[k]; }

static void put_implicit(struct perf_transfer *t)
{
	for (int k = 0; k < SCATTERED; k++)
		ARMCI_NbPut(source(t, k), target(t, k), 8, perf_peer, NULL);
	ARMCI_WaitAll();
}

static void put_handles(struct perf_transfer *t)
{
	static armci_hdl_t handle[SCATTERED];
	for (int k = 0; k < SCATTERED; k++) {
		ARMCI_INIT_HANDLE(&handle[k]);
		ARMCI_NbPut(source(t, k), target(t, k), 8, perf_peer, &handle[k]);
	}
	for (int k = 0; k < SCATTERED; k++) ARMCI_Wait(&handle[k]);
}

static void put_aggregate(struct perf_transfer *t)
{
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	ARMCI_SET_AGGREGATE_HANDLE(&h);
	for (int k = 0; k < SCATTERED; k++)
		ARMCI_NbPut(source(t, k), target(t, k), 8, perf_peer, &h);
	ARMCI_Wait(&h);
	ARMCI_UNSET_AGGREGATE_HANDLE(&h);
}

PERF_FENCED(implicit, put_implicit(t))
PERF_FENCED(handles, put_handles(t))
PERF_FENCED(aggregate, put_aggregate(t))

void perf_nonblocking(void)
{
	static void *mine[SCATTERED], *theirs[SCATTERED];
	struct perf_transfer t = scattered(mine, theirs);
	struct perf_case c = {.shape = "batch",
		.bytes = 8,
		.ops = SCATTERED,
		.unit = TIMING_NS,
		.arg = &t};
	c.op = "nbput-implicit", c.ours = implicit;
	perf_solo(&c);
	c.op = "nbput-handles", c.ours = handles;
	perf_solo(&c);
	c.op = "nbput-aggregate", c.ours = aggregate;
	perf_solo(&c);
	perf_transfer_end(&t);
}
