// SPDX-License-Identifier: BSD-3-Clause
// What must fail, with which status, and what follows: wrong keys, bounds, rights, receivers that
// are not ready, peers that have died.
#define _GNU_SOURCE
#include "raw.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// A request fails with a status, and the one behind it is flushed.
static void refused(struct end *e, struct ibv_send_wr *w, enum ibv_wc_status status)
{
	struct ibv_sge piece;
	struct ibv_send_wr behind = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 0, 8);
	behind.wr_id = 2;
	w->next = &behind;
	raw_post(e, w);
	struct ibv_wc done = raw_next(e);
	if (done.wr_id != w->wr_id || done.status != status)
		raw_fail("request %lu: %s, expected %s", (unsigned long)done.wr_id,
			ibv_wc_status_str(done.status), ibv_wc_status_str(status));
	done = raw_next(e);
	WANT(done.wr_id == 2 && done.status == IBV_WC_WR_FLUSH_ERR);
	w->next = NULL;
	WANT(raw_do(e, w) == IBV_WC_WR_FLUSH_ERR);
	struct ibv_qp_attr a;
	struct ibv_qp_init_attr init;
	WANT(ibv_query_qp(e->pair, &a, IBV_QP_STATE, &init) == 0 && a.qp_state == IBV_QPS_ERR);
}

// One wrong thing about a write.
static void wrong_write(struct end *e, void (*spoil)(struct end *, struct ibv_send_wr *),
	enum ibv_wc_status status)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 0, 8);
	if (e->lead) {
		spoil(e, &w);
		refused(e, &w, status);
	}
	raw_meet(e);
}

static void spoil_key(struct end *e, struct ibv_send_wr *w) { (void)e, w->wr.rdma.rkey ^= 1; }
static void spoil_end(struct end *e, struct ibv_send_wr *w)
{
	w->wr.rdma.remote_addr = e->far.memory + MEMORY - 7;
}
static void spoil_begin(struct end *e, struct ibv_send_wr *w)
{
	w->wr.rdma.remote_addr = e->far.memory - 1;
}
static void spoil_local_key(struct end *e, struct ibv_send_wr *w)
{
	(void)e, w->sg_list->lkey ^= 1;
}
static void spoil_local_end(struct end *e, struct ibv_send_wr *w)
{
	w->sg_list->addr = (uintptr_t)e->memory + MEMORY - 7;
}

static void wrong_key(struct end *e) { wrong_write(e, spoil_key, IBV_WC_REM_ACCESS_ERR); }
static void wrong_end(struct end *e) { wrong_write(e, spoil_end, IBV_WC_REM_ACCESS_ERR); }
static void wrong_begin(struct end *e) { wrong_write(e, spoil_begin, IBV_WC_REM_ACCESS_ERR); }
static void wrong_local_key(struct end *e) { wrong_write(e, spoil_local_key, IBV_WC_LOC_PROT_ERR); }
static void wrong_local_end(struct end *e) { wrong_write(e, spoil_local_end, IBV_WC_LOC_PROT_ERR); }

// The other end gives a region that may be used for nothing but `rights`, in domain `d`.
static void rights(struct end *e, int rights, struct ibv_pd *d, enum ibv_wr_opcode opcode)
{
	struct ibv_sge piece;
	struct ibv_mr *region = ibv_reg_mr(d, e->memory, 4096, rights);
	WANT(region != NULL);
	e->mine.key = region->rkey;
	WANT(write(e->socket, &e->mine, sizeof e->mine) == sizeof e->mine &&
		read(e->socket, &e->far, sizeof e->far) == sizeof e->far);
	struct ibv_send_wr w = raw_request(e, opcode, &piece, 0, 0, 8);
	if (e->lead)
		refused(e, &w, IBV_WC_REM_ACCESS_ERR);
	raw_meet(e);
	WANT(ibv_dereg_mr(region) == 0);
}

static void no_write(struct end *e)
{
	rights(e, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, e->domain, IBV_WR_RDMA_WRITE);
}
static void no_read(struct end *e)
{
	rights(e, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, e->domain, IBV_WR_RDMA_READ);
}
static void no_atomic(struct end *e)
{
	rights(e, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, e->domain,
		IBV_WR_ATOMIC_FETCH_AND_ADD);
}

static void other_domain(struct end *e)
{
	struct ibv_pd *d = ibv_alloc_pd(e->device);
	rights(e, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, d, IBV_WR_RDMA_WRITE);
	WANT(ibv_dealloc_pd(d) == 0);
}

// A request of 8 bytes to an offset, of the end that leads, has an error.
static void refused_at(struct end *e, enum ibv_wr_opcode op, size_t offset,
	enum ibv_wc_status status)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, op, &piece, 0, offset, 8);
	if (e->lead)
		refused(e, &w, status);
	raw_meet(e);
}

static void odd_atomic(struct end *e)
{
	refused_at(e, IBV_WR_ATOMIC_FETCH_AND_ADD, 4, IBV_WC_REM_INV_REQ_ERR);
}

// A message longer than the buffer for it: both ends have an error.
static void too_long(struct end *e)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_SEND, &piece, 0, 0, 9);
	if (!e->lead) {
		raw_receive(e, 1, 0, 8);
		raw_receive(e, 2, 0, 8);
	}
	raw_meet(e);
	if (e->lead) {
		refused(e, &w, IBV_WC_REM_INV_REQ_ERR);
	} else {
		struct ibv_wc done = raw_next(e);
		WANT(done.wr_id == 1 && done.status == IBV_WC_LOC_LEN_ERR);
		done = raw_next(e);
		WANT(done.wr_id == 2 && done.status == IBV_WC_WR_FLUSH_ERR);
	}
	raw_meet(e);
}

// The peer has no receive request, and the sender does not wait.
static void not_ready(struct end *e) { refused_at(e, IBV_WR_SEND, 0, IBV_WC_RNR_RETRY_EXC_ERR); }

// The sender waits, whether it polls or sleeps, and nothing overtakes what waits.
static void ready_later(struct end *e)
{
	struct ibv_cq *queue;
	void *user;
	for (int asleep = 0; asleep < 2; asleep++) {
		struct ibv_sge piece[2];
		struct ibv_send_wr w = raw_request(e, IBV_WR_SEND, &piece[0], 0, 0, 8);
		struct ibv_send_wr behind = raw_request(e, IBV_WR_RDMA_WRITE, &piece[1], 0, 4096,
			8);
		w.next = &behind;
		w.wr_id = 1;
		behind.wr_id = 2;
		memset(e->memory, e->lead, 8192);
		WANT(ibv_req_notify_cq(e->queue, 0) == 0);
		raw_meet(e);
		if (!e->lead) {
			raw_rest(20000);
			WANT(e->memory[4096] == 0);
			raw_receive(e, 3, 0, 8);
			WANT(raw_next(e).status == IBV_WC_SUCCESS);
		} else {
			raw_post(e, &w);
			WANT(asleep || raw_quiet(e, 10000));
			if (asleep) {
				WANT(ibv_get_cq_event(e->channel, &queue, &user) == 0);
				ibv_ack_cq_events(queue, 1);
			}
			struct ibv_wc done = raw_next(e);
			WANT(done.status == IBV_WC_SUCCESS && done.wr_id == 1);
			done = raw_next(e);
			WANT(done.status == IBV_WC_SUCCESS && done.wr_id == 2);
			if (!asleep) { // that was armed all the time
				WANT(ibv_get_cq_event(e->channel, &queue, &user) == 0);
				ibv_ack_cq_events(queue, 1);
			}
		}
		raw_meet(e);
		WANT(e->lead || e->memory[4096] == 1);
		if (!e->lead) {
			WANT(ibv_get_cq_event(e->channel, &queue, &user) == 0);
			ibv_ack_cq_events(queue, 1);
		}
	}
}

// The other end is killed: what is sent then has no answer.
static void killed(struct end *e)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 0, 8);
	if (!e->lead)
		kill(getpid(), SIGKILL);
	char end;
	WANT(read(e->socket, &end, 1) <= 0);
	raw_rest(10000);
	refused(e, &w, IBV_WC_RETRY_EXC_ERR);
}

// It is killed while writes go on: they end with that error, soon.
static void killed_meanwhile(struct end *e)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 0, 65536);
	enum ibv_wc_status status;
	if (!e->lead) {
		raw_rest(20000);
		kill(getpid(), SIGKILL);
	}
	while ((status = raw_do(e, &w)) == IBV_WC_SUCCESS) continue;
	WANT(status == IBV_WC_RETRY_EXC_ERR);
}

// Receive requests of a queue pair that is set to error are flushed.
static void flushed(struct end *e)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_ERR};
	for (uint64_t i = 0; i < 10; i++)
		raw_receive(e, i, 0, 8);
	WANT(ibv_modify_qp(e->pair, &a, IBV_QP_STATE) == 0);
	for (uint64_t i = 0; i < 10; i++) {
		struct ibv_wc done = raw_next(e);
		WANT(done.status == IBV_WC_WR_FLUSH_ERR && done.wr_id == i);
	}
}

// When a registration has ended, nothing is written there anymore.
static void deregistered(struct end *e)
{
	struct ibv_sge piece;
	memset(e->memory, 1, MEMORY);
	raw_meet(e);
	if (e->lead) {
		struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 0, MEMORY);
		enum ibv_wc_status status;
		while ((status = raw_do(e, &w)) == IBV_WC_SUCCESS) continue;
		WANT(status == IBV_WC_REM_ACCESS_ERR);
	} else {
		raw_rest(20000);
		WANT(ibv_dereg_mr(e->region) == 0);
		e->region = NULL;
		memset(e->memory, 2, MEMORY);
		raw_rest(5000);
		for (size_t i = 0; i < MEMORY; i++)
			WANT(e->memory[i] == 2);
	}
	raw_meet(e);
}

const struct test raw_errors[] = {
	{"wrong key", wrong_key, .rnr_retry = 7},
	{"wrong end", wrong_end, .rnr_retry = 7},
	{"wrong begin", wrong_begin, .rnr_retry = 7},
	{"wrong local key", wrong_local_key, .rnr_retry = 7},
	{"wrong local end", wrong_local_end, .rnr_retry = 7},
	{"no right to write", no_write, .rnr_retry = 7},
	{"no right to read", no_read, .rnr_retry = 7},
	{"no right to atomics", no_atomic, .rnr_retry = 7},
	{"other domain", other_domain, .rnr_retry = 7},
	{"odd atomic", odd_atomic, .rnr_retry = 7},
	{"too long", too_long, .rnr_retry = 7},
	{"not ready", not_ready, .rnr_retry = 0},
	{"ready later", ready_later, .rnr_retry = 7},
	{"killed", killed, .rnr_retry = 7},
	{"killed meanwhile", killed_meanwhile, .rnr_retry = 7},
	{"killed meanwhile, shared", killed_meanwhile, .shared = true, .rnr_retry = 7},
	{"flushed", flushed, .rnr_retry = 7},
	{"deregistered", deregistered, .rnr_retry = 7},
	{"deregistered, shared", deregistered, .shared = true, .rnr_retry = 7},
	{0},
};
