// SPDX-License-Identifier: BSD-3-Clause
// What a program would have to do without strided transfers: both ends pack and unpack, one writes
// the packed patch to the other over bare verbs and tells it, and is told when it is done. The far
// end sleeps while there is no request. It uses nothing of the library.
#include "rdma.h"

#include <string.h>

enum { OVER, UNPACK, PACK }; // what the far end is asked for, and what it answers with: OVER

static void rows(char *packed, char *array, const struct perf_transfer *r, bool pack)
{
	size_t row = (size_t)r->count[0], apart = (size_t)r->stride[0];
	for (int k = 0; k < r->count[1]; k++)
		if (pack)
			memcpy(packed + (size_t)k * row, array + (size_t)k * apart, row);
		else
			memcpy(array + (size_t)k * apart, packed + (size_t)k * row, row);
}

static struct ibv_send_wr write_of(const struct perf_transfer *t, struct ibv_sge *list)
{
	return link_request(&rdma.link, IBV_WR_RDMA_WRITE, list, 0, 0,
		(size_t)t->count[0] * (size_t)t->count[1]);
}

// Both what I have said and the answer complete.
static void said_and_answered(struct link *l)
{
	link_next(l);
	link_next(l);
}

void rdma_put_by_hand(void *arg, long n)
{
	struct perf_transfer *t = arg;
	struct ibv_sge list;
	for (long i = 0; i < n; i++) {
		link_receive(&rdma.link);
		rows(rdma.link.memory, t->mine, t, true);
		struct ibv_send_wr write = write_of(t, &list);
		link_say(&rdma.link, &write, UNPACK);
		said_and_answered(&rdma.link);
	}
}

void rdma_get_by_hand(void *arg, long n)
{
	struct perf_transfer *t = arg;
	for (long i = 0; i < n; i++) {
		link_receive(&rdma.link);
		link_say(&rdma.link, NULL, PACK);
		said_and_answered(&rdma.link);
		rows(rdma.link.memory, t->mine, t, false);
	}
}

void rdma_end_by_hand(void)
{
	link_say(&rdma.link, NULL, OVER);
	link_next(&rdma.link);
}

void rdma_serve_by_hand(struct perf_transfer *t)
{
	struct ibv_sge list;
	rdma.link.asleep = true;
	link_receive(&rdma.link);
	for (;;) {
		struct ibv_wc done = link_next(&rdma.link);
		if (!(done.opcode & IBV_WC_RECV))
			continue; // an answer has left
		if (done.imm_data == OVER)
			return;
		link_receive(&rdma.link);
		rows(rdma.link.memory, t->all[perf_me], t, done.imm_data == PACK);
		struct ibv_send_wr write = write_of(t, &list);
		link_say(&rdma.link, done.imm_data == PACK ? &write : NULL, OVER);
	}
}
