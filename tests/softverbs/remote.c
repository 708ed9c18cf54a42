// SPDX-License-Identifier: BSD-3-Clause
// What a request of a reliable connection does at the peer, by the thread that posts it: it checks
// what the peer's card would check, moves the bytes, and tells the peer's application or its thread
// if there is something to tell.
#include "softverbs.h"

#include <errno.h>
#include <string.h>

// The peer's queue pair, locked, if it is connected to this one and answers.
static struct pair *reach(struct queue_pair *q)
{
	const struct segment *own = context_of(q->qp.context)->segment;
	if (!q->far || !alive(q->peer->segment)) {
		q->peer = peer_find(context_of(q->qp.context), q->attr.dest_qp_num);
		if (!q->peer || !alive(q->peer->segment))
			return NULL;
		q->far = &q->peer->segment->pair[q->attr.dest_qp_num & (PAIRS - 1)];
	}
	struct pair *t = q->far;
	if (atomic_load_explicit(&t->state, memory_order_acquire) == IBV_QPS_RESET ||
		q->peer->segment->down || own->down)
		return NULL;
	shared_lock(&t->lock);
	int state = atomic_load_explicit(&t->state, memory_order_relaxed);
	if ((state == IBV_QPS_RTR || state == IBV_QPS_RTS) && t->peer == q->qp.qp_num &&
		t->number == q->attr.dest_qp_num && !t->datagrams &&
		t->first_packet == q->attr.sq_psn &&
		path_leads_to(&q->shared->path, q->peer->segment) && path_leads_to(&t->path, own))
		return t;
	shared_unlock(&t->lock);
	return NULL;
}

// The peer's queue pair is of no more use; its owner's thread flushes it.
static void fail(struct peer *p, struct pair *t)
{
	atomic_store(&t->state, IBV_QPS_ERR);
	atomic_store(&t->failed, true);
	atomic_store(&p->segment->failed, true);
	segment_ring(p->segment);
}

static void received(struct queue_pair *q, struct pair *t, const struct request *r,
	const struct received *in, int status, size_t bytes, const struct iovec *staged, int n)
{
	struct completion done = {.wc = {.wr_id = in->id,
					  .status = (enum ibv_wc_status)status,
					  .opcode = IBV_WC_RECV,
					  .byte_len = (uint32_t)bytes,
					  .qp_num = t->number,
					  .src_qp = q->qp.qp_num}};
	if (r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		done.wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	if (r->opcode != IBV_WR_SEND) {
		done.wc.imm_data = r->immediate;
		done.wc.wc_flags = IBV_WC_WITH_IMM;
	}
	if (n > 0) {
		done.staged = (uint32_t)bytes;
		done.to = in->span[0].addr;
	}
	complete_staged(q->peer, t->completions, &done, r->solicited, staged, n);
}

// Whether a message waits with its completion, since its place is not mapped here and the kernel
// would take longer to copy it than all the rest.
static bool is_staged(const struct queue_pair *q, const struct pair *t, const struct received *in)
{
	const struct completions *c = &q->peer->segment->completions[t->completions];
	return in->spans == 1 && !in->span[0].at && in->span[0].bytes <= STAGE_BYTES &&
	       stage(q->peer->segment, c, 0);
}

// The status after bytes were to move: there is no answer for those of a process that has died.
static int after(int err, int status)
{
	return err == 0 ? IBV_WC_SUCCESS : err == ESRCH ? NO_ANSWER : status;
}

static int send(struct queue_pair *q, struct pair *t, const struct request *r,
	const struct iovec *mine, int n, size_t bytes)
{
	struct received in;
	size_t into = r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? 0 : bytes;
	int status = receive_take(q->peer, t, into, &in);
	if (status == NO_RECEIVE)
		return status;
	bool staged = status == IBV_WC_SUCCESS && into > 0 && is_staged(q, t, &in);
	if (status == IBV_WC_SUCCESS && into > 0 && !staged)
		status = after(transfer(q->peer, true, mine, n, in.span, in.spans),
			IBV_WC_LOC_PROT_ERR);
	if (status == NO_ANSWER)
		return status;
	received(q, t, r, &in, status, bytes, mine, staged ? n : 0);
	return status == IBV_WC_SUCCESS      ? status :
		status == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR :
					       IBV_WC_REM_OP_ERR;
}

// Where the other process has [addr, addr + n): an error, or success and the place.
static int place(struct queue_pair *q, const struct pair *t, const struct request *r, size_t n,
	uint32_t access, struct span *out)
{
	if (!(t->access & access))
		return IBV_WC_REM_INV_REQ_ERR;
	const struct region *at = region_find(q->peer->segment, r->key, t->domain, r->remote, n,
		access);
	if (!at)
		return IBV_WC_REM_ACCESS_ERR;
	*out = (struct span){mapping_at(q->peer, at, r->remote), r->remote, n};
	return IBV_WC_SUCCESS;
}

static int move(struct queue_pair *q, const struct pair *t, const struct request *r,
	const struct iovec *mine, int n, size_t bytes)
{
	bool out = r->opcode != IBV_WR_RDMA_READ;
	struct span there;
	if (bytes == 0)
		return IBV_WC_SUCCESS;
	int status = place(q, t, r, bytes, out ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ,
		&there);
	if (status == IBV_WC_SUCCESS)
		status = after(transfer(q->peer, out, mine, n, &there, 1), IBV_WC_REM_ACCESS_ERR);
	return status;
}

static int atomic(struct queue_pair *q, const struct pair *t, const struct request *r,
	const struct iovec *mine)
{
	struct span there;
	uint64_t before;
	if (settings.atomics == IBV_ATOMIC_NONE || r->remote % sizeof before != 0)
		return IBV_WC_REM_INV_REQ_ERR;
	int status = place(q, t, r, sizeof before, IBV_ACCESS_REMOTE_ATOMIC, &there);
	if (status == IBV_WC_SUCCESS)
		status = after(transfer_atomic(q->peer, there.at, there.addr, r, &before),
			IBV_WC_REM_ACCESS_ERR);
	if (status == IBV_WC_SUCCESS)
		memcpy(mine->iov_base, &before, sizeof before);
	return status;
}

// The packets that a request takes: one for each MTU of its data, or of its answer.
static uint32_t packets(const struct queue_pair *q, size_t bytes)
{
	size_t mtu = (size_t)128 << q->attr.path_mtu;
	return bytes <= mtu ? 1 : (uint32_t)((bytes + mtu - 1) / mtu);
}

int execute(struct queue_pair *q, const struct request *r, const struct iovec *mine, int n,
	size_t bytes)
{
	struct pair *t = reach(q);
	int status = NO_ANSWER;
	if (!t)
		return status;
	switch (r->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ: status = move(q, t, r, mine, n, bytes); break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		// again after a wait for a receive request: the same bytes
		status = move(q, t, r, mine, n, bytes);
		if (status != IBV_WC_SUCCESS)
			break; // fall through
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM: status = send(q, t, r, mine, n, bytes); break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD: status = atomic(q, t, r, mine); break;
	default: status = IBV_WC_LOC_QP_OP_ERR; break;
	}
	if (status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR ||
		status == IBV_WC_REM_OP_ERR)
		fail(q->peer, t);
	if (status == IBV_WC_SUCCESS)
		t->expected = (t->expected + packets(q, bytes)) & PACKET;
	shared_unlock(&t->lock);
	return status;
}
