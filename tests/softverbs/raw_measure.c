// SPDX-License-Identifier: BSD-3-Clause
// How long 8-byte operations take, from posting to the completion that was polled for.
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 21, EACH = 2000 };

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void measure(struct end *e, const char *name, enum ibv_wr_opcode opcode, unsigned flags)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, opcode, &piece, 0, 64, 8);
	double ns[BATCHES];
	w.send_flags |= flags;
	for (int i = 0; i < BATCHES; i++) {
		uint64_t begin = raw_now();
		for (int k = 0; k < EACH; k++)
			WANT(raw_do(e, &w) == IBV_WC_SUCCESS);
		ns[i] = (double)(raw_now() - begin) / EACH;
	}
	qsort(ns, BATCHES, sizeof ns[0], by_size);
	printf("%s: %.0f ns (%.0f to %.0f)\n", name, ns[BATCHES / 2], ns[0], ns[BATCHES - 1]);
}

// A message there and one back; half of that.
static void echo(struct end *e)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_SEND, &piece, 0, 0, 8);
	uint64_t begin;
	w.send_flags = IBV_SEND_INLINE;
	raw_receive(e, 7, 64, 8);
	raw_meet(e);
	begin = raw_now();
	for (int i = 0; i < EACH; i++) {
		if (i % (DEPTH / 2) == 0) // lets the requests before it be forgotten
			w.send_flags |= IBV_SEND_SIGNALED;
		else
			w.send_flags &= ~(unsigned)IBV_SEND_SIGNALED;
		if (e->lead)
			raw_post(e, &w);
		while (raw_next(e).opcode != IBV_WC_RECV) continue;
		raw_receive(e, 7, 64, 8);
		if (!e->lead)
			raw_post(e, &w);
	}
	if (e->lead)
		printf("message, half of there and back: %.0f ns\n",
			(double)(raw_now() - begin) / EACH / 2);
	raw_meet(e);
}

void raw_measure(struct end *e)
{
	if (e->lead) {
		measure(e, "write", IBV_WR_RDMA_WRITE, 0);
		measure(e, "write inline", IBV_WR_RDMA_WRITE, IBV_SEND_INLINE);
		measure(e, "read", IBV_WR_RDMA_READ, 0);
		measure(e, "fetch-add", IBV_WR_ATOMIC_FETCH_AND_ADD, 0);
	}
	raw_meet(e);
	echo(e);
}
