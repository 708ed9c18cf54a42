// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets from and to registered local memory, that of ARMCI_Malloc_local, and to memory of
// the program that is used again and again; blocking, and nonblocking with their waits. Beside each
// a raw request that has as many bytes, one after the other.
#include <stdio.h>
#include <stdlib.h>

#include "rdma.h"

enum { MOST = 4 << 20, BATCH = 1000 };

PERF_BODY(put, ARMCI_Put(t->mine, t->theirs, t->count[0], perf_peer); ARMCI_Fence(perf_peer))
PERF_BODY(get, ARMCI_Get(t->theirs, t->mine, t->count[0], perf_peer))
PERF_BODY(nbput, armci_hdl_t h; ARMCI_INIT_HANDLE(&h);
	ARMCI_NbPut(t->mine, t->theirs, t->count[0], perf_peer, &h); ARMCI_Wait(&h))
PERF_BODY(nbget, armci_hdl_t h; ARMCI_INIT_HANDLE(&h);
	ARMCI_NbGet(t->theirs, t->mine, t->count[0], perf_peer, &h); ARMCI_Wait(&h))

static void many(struct perf_transfer *t, bool gets)
{
	for (int i = 0; i < BATCH; i++) {
		char *mine = t->mine + 8 * i, *theirs = t->theirs + 8 * i;
		if (gets)
			ARMCI_NbGet(theirs, mine, 8, perf_peer, NULL);
		else
			ARMCI_NbPut(mine, theirs, 8, perf_peer, NULL);
	}
	ARMCI_WaitAll();
}

PERF_BODY(nbputs, many(t, false); ARMCI_Fence(perf_peer))
PERF_BODY(nbgets, many(t, true))

static void raw_batch(void *arg, long n) { rdma_raw(arg, n * BATCH); }

static void measure(struct perf_transfer *t, const char *op, const char *memory, perf_body body,
	enum ibv_wr_opcode opcode, int bytes, int ops)
{
	char name[64];
	snprintf(name, sizeof name, "%s/%s", op, memory);
	struct perf_case c = {.op = name, .shape = ops ? "batch" : "-", .bytes = bytes, .ops = ops,
		.unit = TIMING_NS, .ours = body, .arg = t};
	t->count[0] = bytes;
	rdma_request(opcode, (size_t)bytes);
	c.raw = ops ? raw_batch : rdma_raw;
	perf_solo(&c);
}

static void rows(struct perf_transfer *t, const char *memory)
{
	for (int bytes = 8; bytes <= MOST; bytes *= perf_quick ? 8 : 2) {
		measure(t, "put", memory, put, IBV_WR_RDMA_WRITE, bytes, 0);
		measure(t, "get", memory, get, IBV_WR_RDMA_READ, bytes, 0);
	}
	measure(t, "nbput", memory, nbput, IBV_WR_RDMA_WRITE, 8, 0);
	measure(t, "nbget", memory, nbget, IBV_WR_RDMA_READ, 8, 0);
	measure(t, "nbput", memory, nbputs, IBV_WR_RDMA_WRITE, 8, BATCH);
	measure(t, "nbget", memory, nbgets, IBV_WR_RDMA_READ, 8, BATCH);
}

void perf_registered(void)
{
	struct perf_transfer t = perf_transfer(MOST);
	char *program = t.mine, *local = ARMCI_Malloc_local(MOST);
	perf_need(local != NULL, "local memory");
	t.mine = local;
	rows(&t, "registered");
	t.mine = program;
	rows(&t, "again");
	ARMCI_Free_local(local);
	perf_transfer_end(&t);
}
