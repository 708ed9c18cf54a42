// SPDX-License-Identifier: BSD-3-Clause
// Eight bytes at a time: put, get, the value operations and put with fence, beside an 8-byte memcpy called through a
// pointer; and contiguous transfers of 1 KiB to 16 MiB beside memcpy of the same size.
#include "perf.h"

#include <stdlib.h>
#include <string.h>

// The two sides do not begin at the same place in their pages: loads would seem to depend on the stores of the transfer
// before, and the figure would be that of the false dependence.
enum { OFFSET = 1344 };

typedef void *(*copier)(void *, const void *, size_t);

struct transfer {
	char *mine, *theirs;
	int bytes;
	copier copy; // memcpy, but the compiler does not know
};

static void put(void *arg, long n)
{
	struct transfer *t = arg;
	for (long i = 0; i < n; i++) ARMCI_Put(t->mine, t->theirs, t->bytes, perf_peer);
}

static void get(void *arg, long n)
{
	struct transfer *t = arg;
	for (long i = 0; i < n; i++) ARMCI_Get(t->theirs, t->mine, t->bytes, perf_peer);
}

static void put_value(void *arg, long n)
{
	struct transfer *t = arg;
	for (long i = 0; i < n; i++) ARMCI_PutValueDouble(1.5, t->theirs, perf_peer);
}

static void get_value(void *arg, long n)
{
	struct transfer *t = arg;
	for (long i = 0; i < n; i++) ARMCI_GetValueDouble(t->theirs, perf_peer);
}

static void put_fence(void *arg, long n)
{
	struct transfer *t = arg;
	for (long i = 0; i < n; i++) {
		ARMCI_Put(t->mine, t->theirs, t->bytes, perf_peer);
		ARMCI_Fence(perf_peer);
	}
}

static void raw_put(void *arg, long n)
{
	struct transfer *t = arg;
	copier copy = t->copy;
	for (long i = 0; i < n; i++) copy(t->theirs, t->mine, (size_t)t->bytes);
}

static void raw_get(void *arg, long n)
{
	struct transfer *t = arg;
	copier copy = t->copy;
	for (long i = 0; i < n; i++) copy(t->mine, t->theirs, (size_t)t->bytes);
}

// The copy and the instruction that orders it before what follows: what a fence needs at least.
static void raw_fence(void *arg, long n)
{
	struct transfer *t = arg;
	copier copy = t->copy;
	for (long i = 0; i < n; i++) {
		copy(t->theirs, t->mine, (size_t)t->bytes);
		atomic_thread_fence(memory_order_seq_cst);
	}
}

static struct transfer begin(void **all, int bytes)
{
	struct transfer t = {.mine = perf_private((size_t)bytes + OFFSET), .theirs = all[perf_peer], .bytes = bytes, .copy = memcpy};
	t.mine += OFFSET;
	perf_opaque(&t);
	return t;
}

void perf_put_get(void)
{
	void **all = perf_malloc(4096);
	struct transfer t = begin(all, 8);
	struct perf_case c = {.shape = "-", .bytes = 8, .unit = PERF_NS, .arg = &t};
#define ROW(name, o, r) (c.op = (name), c.ours = (o), c.raw = (r), perf_solo(&c))
	ROW("put", put, raw_put);
	ROW("get", get, raw_get);
	ROW("put-value", put_value, raw_put);
	ROW("get-value", get_value, raw_get);
	ROW("put+fence/put", put_fence, put);
	ROW("put+fence", put_fence, raw_fence);
	free(t.mine - OFFSET);
	perf_free(all);
}

void perf_bandwidth(void)
{
	int most = 16 << 20;
	void **all = perf_malloc((size_t)most);
	struct transfer t = begin(all, most);
	for (int bytes = 1 << 10; bytes <= most; bytes *= perf_quick ? 16 : 2) {
		t.bytes = bytes;
		struct perf_case c = {.shape = "-", .bytes = bytes, .unit = PERF_MBS, .arg = &t};
		ROW("put-bandwidth", put, raw_put);
		ROW("get-bandwidth", get, raw_get);
	}
	free(t.mine - OFFSET);
	perf_free(all);
}
