// SPDX-License-Identifier: BSD-3-Clause
// Read-modify-write beside a bare atomic fetch-and-add on the same memory, by one rank and by all at once on one
// counter; no ticket may be lost.
#include "perf.h"

struct counter {
	_Alignas(PERF_LINE) _Atomic long ours;
	_Alignas(PERF_LINE) _Atomic long raw;
	_Alignas(PERF_LINE) _Atomic int ours4, raw4;
};
struct tickets {
	struct counter *c;
	double taken;
};

static void fetch_add(void *arg, long n)
{
	struct tickets *t = arg;
	long old;
	for (long i = 0; i < n; i++) ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, &t->c->ours, 1, 0);
	t->taken += (double)n;
}

static void raw_fetch_add(void *arg, long n)
{
	struct tickets *t = arg;
	long old;
	for (long i = 0; i < n; i++) {
		old = atomic_fetch_add(&t->c->raw, 1);
		perf_opaque(&old);
	}
}

static void swap(void *arg, long n)
{
	struct tickets *t = arg;
	int mine = 1;
	for (long i = 0; i < n; i++) ARMCI_Rmw(ARMCI_SWAP, &mine, &t->c->ours4, 0, 0);
}

static void raw_swap(void *arg, long n)
{
	struct tickets *t = arg;
	int mine = 1;
	for (long i = 0; i < n; i++) {
		mine = atomic_exchange(&t->c->raw4, mine);
		perf_opaque(&mine);
	}
}

void perf_rmw(void)
{
	struct tickets t = {.c = perf_shared(sizeof(struct counter))};
	struct perf_case c = {.shape = "-", .bytes = 8, .unit = PERF_NS, .arg = &t};
	c.op = "fetch-add", c.ours = fetch_add, c.raw = raw_fetch_add;
	perf_solo(&c);
	c.op = "fetch-add-contended", c.unit = PERF_MOPS;
	perf_all(&c);
	ARMCI_Barrier();
	perf_check("fetch-add", (double)t.c->ours, perf_total(t.taken));
	c.op = "swap", c.bytes = 4, c.unit = PERF_NS, c.ours = swap, c.raw = raw_swap;
	perf_solo(&c);
	perf_shared_free(t.c);
}
