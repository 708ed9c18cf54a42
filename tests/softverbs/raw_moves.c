// SPDX-License-Identifier: BSD-3-Clause
// What works: writes, reads, atomics, messages, datagrams, lists of pieces, events.
#define _GNU_SOURCE
#include "raw.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t sizes[] = {1, 2, 4, 8, 63, 64, 1000, 4096, 4097, 65536, MEMORY / 2 - 64};

static void there_and_back(struct end *e)
{
	for (size_t i = 0; e->lead && i < sizeof sizes / sizeof sizes[0]; i++) {
		struct ibv_sge piece;
		size_t n = sizes[i];
		for (size_t k = 0; k < n; k++)
			e->memory[k] = (char)(k * 7 + n);
		memset(e->memory + MEMORY / 2, 0, n + 1);
		struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 64, n);
		WANT(raw_do(e, &w) == IBV_WC_SUCCESS);
		w = raw_request(e, IBV_WR_RDMA_READ, &piece, MEMORY / 2, 64, n);
		WANT(raw_do(e, &w) == IBV_WC_SUCCESS);
		WANT(memcmp(e->memory, e->memory + MEMORY / 2, n) == 0);
		WANT(e->memory[MEMORY / 2 + n] == 0);
	}
	raw_meet(e);
}

static uint64_t atomic(struct end *e, enum ibv_wr_opcode opcode, uint64_t first, uint64_t second)
{
	struct ibv_sge piece;
	uint64_t before;
	struct ibv_send_wr w = raw_request(e, opcode, &piece, 0, 8, 8);
	w.wr.atomic.compare_add = first;
	w.wr.atomic.swap = second;
	WANT(raw_do(e, &w) == IBV_WC_SUCCESS);
	memcpy(&before, e->memory, sizeof before);
	return before;
}

static void atomics(struct end *e)
{
	for (uint64_t i = 0; e->lead && i < 100; i++)
		WANT(atomic(e, IBV_WR_ATOMIC_FETCH_AND_ADD, 3, 0) == 3 * i);
	if (e->lead) {
		WANT(atomic(e, IBV_WR_ATOMIC_CMP_AND_SWP, 299, 1) == 300);
		WANT(atomic(e, IBV_WR_ATOMIC_CMP_AND_SWP, 300, 7) == 300);
		WANT(atomic(e, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0) == 7);
	}
	raw_meet(e);
	WANT(e->lead || *(uint64_t *)(e->memory + 8) == 7);
}

// Each end changes a word of the other's, both at once.
static void atomics_both_ways(struct end *e)
{
	enum { ROUNDS = 5000 };
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_ATOMIC_FETCH_AND_ADD, &piece, 0, 8, 8);
	w.wr.atomic.compare_add = 1;
	for (int i = 0; i < ROUNDS; i++)
		WANT(raw_do(e, &w) == IBV_WC_SUCCESS);
	raw_meet(e);
	WANT(*(uint64_t *)(e->memory + 8) == ROUNDS);
}

// Messages of several pieces, with and without a number, in order.
static void messages(struct end *e)
{
	enum { N = 1000, EACH = 48 };
	if (!e->lead) {
		for (uint64_t i = 0; i < DEPTH; i++)
			raw_receive(e, i, i * EACH, EACH);
		raw_meet(e);
		for (uint32_t i = 0; i < N; i++) {
			struct ibv_wc done = raw_next(e);
			WANT(done.status == IBV_WC_SUCCESS && done.opcode == IBV_WC_RECV &&
				done.wr_id == i % DEPTH);
			WANT(done.byte_len == 2 * sizeof i && done.qp_num == e->pair->qp_num);
			WANT(!(done.wc_flags & IBV_WC_WITH_IMM) == !(i % 2) &&
				(i % 2 == 0 || done.imm_data == i));
			WANT(memcmp(e->memory + done.wr_id * EACH, &i, sizeof i) == 0);
			raw_receive(e, done.wr_id, done.wr_id * EACH, EACH);
		}
		return;
	}
	raw_meet(e);
	for (uint32_t i = 0; i < N; i++) {
		struct ibv_sge piece[2];
		struct ibv_send_wr w = raw_request(e, i % 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
			&piece[0], 0, 0, sizeof i);
		w.imm_data = i;
		w.num_sge = 2;
		piece[1] = piece[0];
		memcpy(e->memory, &i, sizeof i);
		WANT(raw_do(e, &w) == IBV_WC_SUCCESS);
	}
}

static void inline_data(struct end *e)
{
	char local[INLINE];
	struct ibv_sge piece;
	memset(local, 5, sizeof local);
	struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 100, sizeof local);
	piece.addr = (uintptr_t)local;
	piece.lkey = 0;
	w.send_flags |= IBV_SEND_INLINE;
	if (e->lead)
		WANT(raw_do(e, &w) == IBV_WC_SUCCESS);
	raw_meet(e);
	WANT(e->lead || memcmp(e->memory + 100, local, sizeof local) == 0);
}

// A chain of writes gathered from pieces, of which the last completes.
static void chain(struct end *e)
{
	struct ibv_sge piece[8][PIECES];
	struct ibv_send_wr w[8];
	for (int i = 0; i < 8; i++) {
		for (int k = PIECES - 1; k >= 0; k--)
			w[i] = raw_request(e, IBV_WR_RDMA_WRITE, &piece[i][k],
				(size_t)(i * PIECES + k) * 200, (size_t)i * 400, 100);
		w[i].num_sge = PIECES;
		w[i].next = i < 7 ? &w[i + 1] : NULL;
		w[i].send_flags = i < 7 ? 0 : IBV_SEND_SIGNALED;
		w[i].wr_id = (uint64_t)i;
	}
	for (int i = 0; e->lead && i < 8 * PIECES; i++)
		memset(e->memory + i * 200, i, 200);
	if (e->lead) {
		raw_post(e, w);
		struct ibv_wc done = raw_next(e);
		WANT(done.status == IBV_WC_SUCCESS && done.wr_id == 7 &&
			done.opcode == IBV_WC_RDMA_WRITE);
		WANT(raw_quiet(e, 1000));
	}
	raw_meet(e);
	for (int i = 0; !e->lead && i < 8 * PIECES; i++)
		WANT(e->memory[i * 100] == i && e->memory[i * 100 + 99] == i);
}

static void write_with_number(struct end *e)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE_WITH_IMM, &piece, 0, 300, 16);
	w.imm_data = 99;
	if (!e->lead)
		raw_receive(e, 4, 0, 0);
	memset(e->memory, 3, 16);
	raw_meet(e);
	if (e->lead) {
		WANT(raw_do(e, &w) == IBV_WC_SUCCESS);
		return;
	}
	struct ibv_wc done = raw_next(e);
	WANT(done.opcode == IBV_WC_RECV_RDMA_WITH_IMM && done.imm_data == 99 && done.wr_id == 4 &&
		done.byte_len == 16);
	WANT(e->memory[300] == 3 && e->memory[315] == 3);
}

// The thread that waits sleeps in the kernel, for each message.
static void events(struct end *e)
{
	struct ibv_sge piece;
	struct ibv_cq *queue;
	void *user;
	for (int i = 0; i < 100; i++) {
		WANT(ibv_req_notify_cq(e->queue, 0) == 0);
		if (!e->lead)
			raw_receive(e, 1, 0, 8);
		raw_meet(e);
		if (e->lead) {
			struct ibv_send_wr w = raw_request(e, IBV_WR_SEND, &piece, 0, 0, 8);
			raw_post(e, &w);
		}
		struct pollfd at = {.fd = e->channel->fd, .events = POLLIN};
		WANT(poll(&at, 1, 10000) == 1);
		WANT(ibv_get_cq_event(e->channel, &queue, &user) == 0 && queue == e->queue &&
			user == e);
		ibv_ack_cq_events(queue, 1);
		WANT(raw_next(e).status == IBV_WC_SUCCESS);
		WANT(poll(&at, 1, 0) == 0); // one event each time it is armed
	}
}

static void datagrams(struct end *e)
{
	enum { HEAD = 40, BYTES = 200 };
	struct ibv_sge piece = {(uintptr_t)e->memory, HEAD + BYTES, e->region->lkey};
	if (!e->lead) {
		struct ibv_recv_wr w = {.wr_id = 6, .sg_list = &piece, .num_sge = 1}, *bad;
		WANT(ibv_post_recv(e->datagrams, &w, &bad) == 0);
		raw_meet(e);
		struct ibv_wc done = raw_next(e);
		WANT(done.status == IBV_WC_SUCCESS && done.wr_id == 6 &&
			done.byte_len == HEAD + BYTES);
		WANT(done.src_qp == e->far.datagrams && done.qp_num == e->datagrams->qp_num);
		WANT(e->memory[HEAD] == 9 && e->memory[HEAD + BYTES - 1] == 9);
		raw_meet(e);
		WANT(raw_quiet(e, 20000));
		return;
	}
	struct ibv_ah_attr to = {.port_num = 1, .dlid = e->far.lid};
	if (e->gid_index >= 0) {
		to.is_global = 1;
		to.grh = (struct ibv_global_route){.dgid = e->far.gid,
			.sgid_index = (uint8_t)e->gid_index,
			.hop_limit = 64};
	}
	struct ibv_ah *ah = ibv_create_ah(e->domain, &to);
	WANT(ah != NULL);
	memset(e->memory, 9, BYTES);
	piece.length = BYTES;
	struct ibv_send_wr w = {.opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED,
				   .sg_list = &piece,
				   .num_sge = 1},
			   *bad;
	w.wr.ud.ah = ah;
	w.wr.ud.remote_qpn = e->far.datagrams;
	raw_meet(e);
	for (w.wr.ud.remote_qkey = 76; w.wr.ud.remote_qkey < 79; w.wr.ud.remote_qkey++) {
		// of which one is right
		WANT(ibv_post_send(e->datagrams, &w, &bad) == 0);
		WANT(raw_next(e).status == IBV_WC_SUCCESS);
	}
	raw_meet(e);
	WANT(ibv_destroy_ah(ah) == 0);
}

// A child process has no part in the device; the connection goes on.
static void fork_meanwhile(struct end *e)
{
	struct ibv_sge piece;
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	WANT(waitpid(child, &status, 0) == child && status == 0);
	child = fork();
	if (child == 0)
		exit(0); // with everything that is called at the end
	WANT(waitpid(child, &status, 0) == child && status == 0);
	raw_meet(e);
	struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 0, 8);
	WANT(raw_do(e, &w) == IBV_WC_SUCCESS);
	raw_meet(e);
}

const struct test raw_moves[] = {
	{"there and back", there_and_back, .rnr_retry = 7},
	{"there and back, shared", there_and_back, .shared = true, .rnr_retry = 7},
	{"atomics", atomics, .rnr_retry = 7},
	{"atomics, shared", atomics, .shared = true, .rnr_retry = 7},
	{"atomics both ways", atomics_both_ways, .rnr_retry = 7},
	{"messages", messages, .rnr_retry = 7},
	{"messages, srq", messages, .srq = true, .rnr_retry = 7},
	{"messages, shared", messages, .shared = true, .rnr_retry = 7},
	{"messages, late", messages, .soft = true, .rnr_retry = 7, .setting = "SOFTVERBS_LATE",
		.value = "20000"},
	{"inline", inline_data, .rnr_retry = 7},
	{"chain", chain, .rnr_retry = 7},
	{"chain, on demand", chain, .soft = true, .rnr_retry = 7, .setting = "SOFTVERBS_ODP",
		.value = "1"},
	{"write with number", write_with_number, .rnr_retry = 7},
	{"events", events, .rnr_retry = 7},
	{"events, late", events, .soft = true, .rnr_retry = 7, .setting = "SOFTVERBS_LATE",
		.value = "300000"},
	{"datagrams", datagrams, .rnr_retry = 7},
	{"fork", fork_meanwhile, .rnr_retry = 7},
	{0},
};
