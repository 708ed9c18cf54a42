// SPDX-License-Identifier: BSD-3-Clause
// Contiguous transfers: eight bytes at a time, 1 KiB to 16 MiB, many of them outstanding.
#include "perf.h"

enum { SMALL = 4096, MOST = 16 << 20, STREAM = 16 };

PERF_BODY(put, ARMCI_Put(t->mine, t->theirs, t->count[0], perf_peer))
PERF_BODY(get, ARMCI_Get(t->theirs, t->mine, t->count[0], perf_peer))
PERF_BODY(put_value, ARMCI_PutValueDouble(1.5, t->theirs, perf_peer))
PERF_BODY(get_value, ARMCI_GetValueDouble(t->theirs, perf_peer))
PERF_BODY(fence, ARMCI_Fence(perf_peer))
PERF_BODY(put_fence, ARMCI_Put(t->mine, t->theirs, t->count[0], perf_peer); ARMCI_Fence(perf_peer))
PERF_FENCED(put_done, ARMCI_Put(t->mine, t->theirs, t->count[0], perf_peer))

void perf_small(void)
{
	static const struct {
		const char *op;
		perf_body body;
	} rows[] = {{"put", put}, {"get", get}, {"put-value", put_value}, {"get-value", get_value},
		{"fence", fence}, {"put+fence", put_fence}};
	struct perf_transfer t = perf_transfer(SMALL);
	struct perf_case c = {.shape = "-", .bytes = 8, .unit = TIMING_NS, .arg = &t};
	t.count[0] = 8;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		c.op = rows[i].op, c.ours = rows[i].body;
		perf_solo(&c);
		ARMCI_AllFence();
	}
	perf_transfer_end(&t);
}

void perf_bandwidth(void)
{
	struct perf_transfer t = perf_transfer(MOST);
	for (int bytes = 1 << 10; bytes <= MOST; bytes *= perf_quick ? 32 : 2) {
		struct perf_case c = {.shape = "-", .bytes = bytes, .unit = TIMING_MBS, .arg = &t};
		t.count[0] = bytes;
		c.op = "put-bandwidth", c.ours = put_done;
		perf_solo(&c);
		c.op = "get-bandwidth", c.ours = get;
		perf_solo(&c);
	}
	perf_transfer_end(&t);
}

static void put_stream(void *arg, long n)
{
	struct perf_transfer *t = arg;
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < STREAM; k++)
			ARMCI_Put(t->mine, t->theirs, t->count[0], perf_peer);
		ARMCI_Fence(perf_peer);
	}
}

static void get_stream(void *arg, long n)
{
	struct perf_transfer *t = arg;
	armci_hdl_t h[STREAM];
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < STREAM; k++) {
			ARMCI_INIT_HANDLE(&h[k]);
			ARMCI_NbGet(t->theirs, t->mine, t->count[0], perf_peer, &h[k]);
		}
		for (int k = 0; k < STREAM; k++) ARMCI_Wait(&h[k]);
	}
}

void perf_stream(void)
{
	struct perf_transfer t = perf_transfer(MOST);
	for (int bytes = 1 << 20; bytes <= MOST / 2; bytes *= perf_quick ? 32 : 2) {
		struct perf_case c = {.shape = "16",
			.bytes = bytes,
			.ops = STREAM,
			.unit = TIMING_MBS,
			.arg = &t};
		t.count[0] = bytes;
		c.op = "put-stream", c.ours = put_stream;
		perf_solo(&c);
		c.op = "get-stream", c.ours = get_stream;
		perf_solo(&c);
	}
	perf_transfer_end(&t);
}
