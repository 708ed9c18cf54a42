// SPDX-License-Identifier: BSD-3-Clause
// What it costs that a device only reaches registered memory: registering beside copying, both raw; and puts from memory
// that has never been used beside raw writes that register it first.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rdma.h"

enum { MOST = 4 << 20 };

static size_t size; // of what is registered, copied, put

static void register_it(void *arg, long n)
{
	struct rdma *d = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++) {
		struct ibv_mr *m = ibv_reg_mr(d->link.domain, d->r.mine, size, IBV_ACCESS_LOCAL_WRITE);
		if (!m || ibv_dereg_mr(m) != 0)
			link_fail("registration");
	}
	d->r.clock += perf_now() - begin;
}

static void copy_it(void *arg, long n)
{
	struct rdma *d = arg;
	double begin = perf_now();
	for (long i = 0; i < n; i++) {
		memcpy(d->link.memory, d->r.mine, size);
		perf_opaque(d->link.memory);
	}
	d->r.clock += perf_now() - begin;
}

// New pages, which are there; only what uses them counts.
static void with_new(struct rdma *d, long n, void (*use)(struct rdma *d, char *p))
{
	for (long i = 0; i < n; i++) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (p == MAP_FAILED)
			link_fail("memory");
		double begin = perf_now();
		use(d, p);
		d->r.clock += perf_now() - begin;
		munmap(p, size);
	}
}

static void put_it(struct rdma *d, char *p)
{
	ARMCI_Put(p, d->r.theirs, (int)size, perf_peer);
	ARMCI_Fence(perf_peer);
}

static void write_it(struct rdma *d, char *p)
{
	struct ibv_mr *m = ibv_reg_mr(d->link.domain, p, size, IBV_ACCESS_LOCAL_WRITE);
	if (!m)
		link_fail("registration");
	d->list.addr = (uintptr_t)p;
	d->list.lkey = m->lkey;
	link_do(&d->link, &d->request);
	if (ibv_dereg_mr(m) != 0)
		link_fail("end of a registration");
}

static void put_new(void *arg, long n) { with_new(arg, n, put_it); }
static void write_new(void *arg, long n) { with_new(arg, n, write_it); }

void perf_rdma_memory(void)
{
	static struct rdma d;
	void **all = perf_malloc(MOST);
	rdma_begin(&d, all, MOST);
	for (size = 4096; size <= (perf_quick ? 64 << 10 : MOST); size *= perf_quick ? 16 : 4) {
		struct perf_case c = {.op = "rdma-register", .shape = "-", .bytes = (double)size, .unit = PERF_NS};
		remote_measure(&d.r, c, NULL, register_it, copy_it);
		c.op = "rdma-put-new";
		rdma_request(&d, IBV_WR_RDMA_WRITE, size);
		remote_measure(&d.r, c, NULL, put_new, write_new);
	}
	rdma_finish(&d, all);
}
