// SPDX-License-Identifier: BSD-3-Clause
// Requests over a connection: made, posted, waited for by looking or asleep. What they are about is
// the caller's.
#include "link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct ibv_send_wr link_request(const struct link *l, enum ibv_wr_opcode opcode,
	struct ibv_sge *list, size_t mine, size_t theirs, size_t bytes)
{
	*list = (struct ibv_sge){.addr = (uintptr_t)l->memory + mine,
		.length = (uint32_t)bytes,
		.lkey = l->region->lkey};
	struct ibv_send_wr w = {.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = list,
		.num_sge = 1};
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		w.wr.atomic.remote_addr = l->far + theirs;
		w.wr.atomic.rkey = l->key;
	} else {
		w.wr.rdma.remote_addr = l->far + theirs;
		w.wr.rdma.rkey = l->key;
	}
	return w;
}

void link_post(struct link *l, struct ibv_send_wr *first)
{
	struct ibv_send_wr *bad;
	errno = ibv_post_send(l->pair, first, &bad);
	if (errno != 0)
		link_fail("post");
}

// Sleeps until there may be a completion. What has come since the last look must be looked for
// after asking for events.
static void sleep_for_one(struct link *l, struct ibv_wc *done, int *got)
{
	struct ibv_cq *queue;
	void *context;
	if (ibv_req_notify_cq(l->queue, 0) != 0)
		link_fail("ask for an event");
	*got = ibv_poll_cq(l->queue, 1, done);
	if (*got != 0)
		return;
	if (ibv_get_cq_event(l->channel, &queue, &context) != 0)
		link_fail("wait for an event");
	ibv_ack_cq_events(queue, 1);
}

static int look(struct link *l, struct ibv_wc *done)
{
	int got = ibv_poll_cq(l->queue, 1, done);
	if (got == 0 && l->asleep)
		sleep_for_one(l, done, &got);
	if (got < 0)
		link_fail("poll");
	return got;
}

enum ibv_wc_status link_wait(struct link *l, int n)
{
	struct ibv_wc done = {.status = IBV_WC_SUCCESS};
	while (n > 0) {
		int got = look(l, &done);
		if (got > 0 && done.status != IBV_WC_SUCCESS)
			return done.status;
		n -= got;
	}
	return IBV_WC_SUCCESS;
}

static void must(enum ibv_wc_status status)
{
	if (status != IBV_WC_SUCCESS) {
		fprintf(stderr, "completion: %s\n", ibv_wc_status_str(status));
		exit(1);
	}
}

struct ibv_wc link_next(struct link *l)
{
	struct ibv_wc done;
	while (look(l, &done) == 0) continue;
	must(done.status);
	return done;
}

void link_receive(struct link *l)
{
	struct ibv_recv_wr room = {0}, *bad;
	errno = ibv_post_recv(l->pair, &room, &bad);
	if (errno != 0)
		link_fail("post a receive");
}

void link_say(struct link *l, struct ibv_send_wr *write, uint32_t number)
{
	struct ibv_send_wr message = {.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = number};
	if (write) {
		write->send_flags &= ~(unsigned)IBV_SEND_SIGNALED;
		write->next = &message;
	}
	link_post(l, write ? write : &message);
}

void link_do(struct link *l, struct ibv_send_wr *request)
{
	link_post(l, request);
	must(link_wait(l, 1));
}
