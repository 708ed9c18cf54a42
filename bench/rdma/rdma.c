// SPDX-License-Identifier: BSD-3-Clause
// Baselines over RDMA: one raw request after the other, by verbs alone, that moves as many bytes in
// one piece and waits by looking, or, in a job that is set to sleep, in the completion channel.
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "dial.h"
#include "rdma.h"

enum { INLINE = 64 };

struct rdma rdma;

void bench_verbs_ready(void)
{
	if (perf_me != 0 && perf_me != perf_n / 2)
		return;
	link_open(&rdma.link, perf_me == 0 ? perf_dial(perf_peer) : perf_answer(0), BENCH_MOST);
	rdma.open = true;
	rdma.link.asleep = bench_asleep();
	rdma_echo_ready();
}

void bench_verbs_end(void)
{
	if (!rdma.open)
		return;
	rdma_echo_end();
	link_close(&rdma.link);
}

void rdma_request(enum ibv_wr_opcode opcode, size_t bytes)
{
	if (!rdma.open)
		return;
	rdma.request = link_request(&rdma.link, opcode, &rdma.list, 0, 0, bytes);
	if (opcode == IBV_WR_RDMA_WRITE && bytes <= INLINE)
		rdma.request.send_flags |= IBV_SEND_INLINE;
}

void rdma_raw(void *arg, long n)
{
	(void)arg;
	for (long i = 0; i < n; i++) link_do(&rdma.link, &rdma.request);
}

static const struct {
	const char *op;
	enum ibv_wr_opcode opcode;
} baselines[] = {
	{"put+fence", IBV_WR_RDMA_WRITE},
	{"get", IBV_WR_RDMA_READ},
	{"fetch-add", IBV_WR_ATOMIC_FETCH_AND_ADD},
	{"lock+unlock", IBV_WR_ATOMIC_FETCH_AND_ADD},
	{"acc", IBV_WR_RDMA_WRITE},
	{"put-bandwidth", IBV_WR_RDMA_WRITE},
	{"get-bandwidth", IBV_WR_RDMA_READ},
	{"put-strided", IBV_WR_RDMA_WRITE},
	{"get-strided", IBV_WR_RDMA_READ},
	{"acc-strided", IBV_WR_RDMA_WRITE},
	{"put-vector", IBV_WR_RDMA_WRITE},
	{"get-vector", IBV_WR_RDMA_READ},
	{"nbput-aggregate", IBV_WR_RDMA_WRITE},
};

// By rank 0 alone.
bool bench_verbs_baseline(struct perf_case *c, int k)
{
	if (k == 1)
		return rdma_echo_baseline(c);
	if (k == 0 && rdma_trips_baseline(c))
		return true;
	for (size_t i = 0; k == 0 && i < sizeof baselines / sizeof baselines[0]; i++) {
		if (strcmp(c->op, baselines[i].op) != 0)
			continue;
		rdma_request(baselines[i].opcode,
			c->bytes > 0 ? (size_t)(c->bytes * (c->ops > 0 ? c->ops : 1)) : 8);
		c->raw = rdma_raw;
		c->warm = perf_pace(0, 0.05); // as in contest.c
		return true;
	}
	return false;
}

static void start_raw(struct perf_overlap *o)
{
	(void)o;
	link_post(&rdma.link, &rdma.request);
}

static void end_raw(struct perf_overlap *o)
{
	(void)o;
	if (link_wait(&rdma.link, 1) != IBV_WC_SUCCESS)
		link_fail("completion");
}

void bench_verbs_overlap(struct perf_overlap *o)
{
	rdma_request(o->get ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, (size_t)o->t.count[0]);
	o->raw_start = start_raw;
	o->raw_end = end_raw;
}

enum { NEW = 4 << 20 };

static char *new_pages(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	perf_need(p != MAP_FAILED, "new pages");
	return p;
}

// Puts from memory that has never been used, beside raw writes that register it: the pages are
// there; only what uses them counts.
static void put_from(char *p, const struct perf_transfer *t)
{
	ARMCI_Put(p, t->theirs, t->count[0], perf_peer);
	ARMCI_Fence(perf_peer);
}

static void write_from(char *p, const struct perf_transfer *t)
{
	struct ibv_mr *m = ibv_reg_mr(rdma.link.domain, p, (size_t)t->count[0],
		IBV_ACCESS_LOCAL_WRITE);
	perf_need(m != NULL, "registration");
	rdma.list.addr = (uintptr_t)p;
	rdma.list.lkey = m->lkey;
	link_do(&rdma.link, &rdma.request);
	perf_need(ibv_dereg_mr(m) == 0, "end of a registration");
}

#define NEW_PAGES(name, call)                                                            \
	PERF_COUNTED(name, t->clock, char *p = new_pages((size_t)t->count[0]), call,     \
		munmap(p, (size_t)t->count[0]))
NEW_PAGES(put_new, put_from(p, t))
NEW_PAGES(write_new, write_from(p, t))

void perf_put_new(void)
{
	struct perf_transfer t = perf_transfer(NEW);
	for (int bytes = 4096; bytes <= (int)perf_pace(64 << 10, NEW);
		bytes *= perf_quick ? 16 : 4) {
		struct perf_case c = {.op = "put-new",
			.shape = "-",
			.bytes = bytes,
			.unit = TIMING_NS,
			.ours = put_new,
			.raw = write_new,
			.arg = &t,
			.clock = &t.clock,
			.raw_clock = &t.clock};
		t.count[0] = bytes;
		rdma_request(IBV_WR_RDMA_WRITE, (size_t)bytes);
		perf_solo(&c);
	}
	perf_transfer_end(&t);
}
