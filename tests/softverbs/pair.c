// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs: made, taken through their states, destroyed.
#include "softverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool fits(struct ibv_qp_init_attr *a)
{
	const struct ibv_qp_cap *cap = &a->cap;
	return (a->qp_type == IBV_QPT_RC || a->qp_type == IBV_QPT_UD) && a->send_cq && a->recv_cq &&
		cap->max_send_wr <= (uint32_t)settings.max_requests &&
		cap->max_recv_wr <= (uint32_t)settings.max_requests &&
		cap->max_send_sge <= (uint32_t)settings.max_pieces &&
		cap->max_recv_sge <= (uint32_t)settings.max_pieces &&
		cap->max_inline_data <= (uint32_t)settings.max_inline;
}

// A number that was not used for long, and its place. The caller has the lock of the tables.
static uint32_t take_number(struct context *c)
{
	if (c->live_pairs >= (uint32_t)settings.max_pairs)
		return 0;
	for (uint32_t n = 0; n < PAIRS - 1; n++) {
		uint32_t i = c->next_pair % (PAIRS - 1) + 1;
		c->next_pair = i;
		if (!c->pair[i]) {
			c->pairs = i < c->pairs ? c->pairs : i + 1;
			c->live_pairs++;
			return c->segment->number << INDEX_BITS | i;
		}
	}
	return 0;
}

static void publish(struct queue_pair *q, const struct ibv_qp_init_attr *a, uint32_t receives)
{
	struct pair *s = q->shared;
	if (!s->used) // once: a peer may still look for one that was here
		shared_mutex(&s->lock);
	s->used = true;
	s->domain = ((struct domain *)q->qp.pd)->number;
	s->receives = receives;
	s->completions = q->receive->index;
	s->datagrams = a->qp_type == IBV_QPT_UD;
	s->peer = s->access = 0;
	atomic_store(&s->failed, false);
	s->number = q->qp.qp_num;
}

static void release(struct queue_pair *q)
{
	free(q->waiting);
	free(q->inlined);
	free(q);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct context *c = context_of(pd->context);
	if (refused("create_qp"))
		return NULL;
	struct queue_pair *q = fits(a) ? calloc(1, sizeof *q) : NULL;
	uint32_t receives;
	if (!q || c->segment->vanished) {
		errno = q ? EIO : fits(a) ? ENOMEM : EINVAL;
		free(q);
		return NULL;
	}
	q->cap = a->cap;
	q->cap.max_send_wr = a->cap.max_send_wr ? a->cap.max_send_wr : 1;
	q->waiting = calloc(q->cap.max_send_wr, sizeof *q->waiting);
	q->inlined = calloc(q->cap.max_send_wr,
		q->cap.max_inline_data ? q->cap.max_inline_data : 1);
	q->srq = (struct shared_receives *)a->srq;
	errno = !q->waiting || !q->inlined ? ENOMEM : 0;
	if (q->srq)
		receives = q->srq->index;
	else if (!errno)
		errno = receives_open(c, &receives, a->cap.max_recv_wr, a->cap.max_recv_sge,
			((struct domain *)pd)->number, &q->own_bytes);
	if (errno) {
		release(q);
		return NULL;
	}
	if (!q->srq)
		q->own = &c->segment->receives[receives];
	q->send = (struct queue *)a->send_cq;
	q->receive = (struct queue *)a->recv_cq;
	q->signal_all = a->sq_sig_all;
	pthread_mutex_init(&q->lock, NULL);
	pthread_mutex_lock(&c->table);
	uint32_t number = take_number(c);
	if (number) {
		q->qp = (struct ibv_qp){.context = pd->context,
			.qp_context = a->qp_context,
			.pd = pd,
			.send_cq = a->send_cq,
			.recv_cq = a->recv_cq,
			.srq = a->srq,
			.handle = number,
			.qp_num = number,
			.qp_type = a->qp_type};
		q->shared = &c->segment->pair[number & (PAIRS - 1)];
		publish(q, a, receives);
		c->pair[number & (PAIRS - 1)] = q;
	}
	pthread_mutex_unlock(&c->table);
	if (!number) {
		if (q->own)
			receives_close(c, receives, q->own_bytes);
		release(q);
		errno = ENOMEM;
		return NULL;
	}
	return &q->qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct queue_pair *q = (struct queue_pair *)qp;
	struct context *c = context_of(qp->context);
	shared_lock(&q->shared->lock); // no peer sends to it anymore
	atomic_store(&q->shared->state, IBV_QPS_RESET);
	q->shared->number = 0;
	shared_unlock(&q->shared->lock);
	pthread_mutex_lock(&c->table);
	c->pair[qp->qp_num & (PAIRS - 1)] = NULL;
	c->live_pairs--;
	if (atomic_load(&q->waits))
		atomic_fetch_sub(&c->waiting, 1);
	pthread_mutex_unlock(&c->table);
	completions_purge(q->send, qp->qp_num);
	completions_purge(q->receive, qp->qp_num);
	if (q->own)
		receives_close(c, q->shared->receives, q->own_bytes);
	release(q);
	return 0;
}

static bool may_change(int from, int to)
{
	switch (to) {
	case IBV_QPS_RESET:
	case IBV_QPS_ERR: return true;
	case IBV_QPS_INIT: return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
	case IBV_QPS_RTR: return from == IBV_QPS_INIT;
	case IBV_QPS_RTS: return from == IBV_QPS_RTR || from == IBV_QPS_RTS;
	default: return false;
	}
}

// What must be said on the way to a state.
static int required(int to, bool datagrams)
{
	enum { INIT = IBV_QP_PKEY_INDEX | IBV_QP_PORT };
	switch (to) {
	case IBV_QPS_INIT: return INIT | (datagrams ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	case IBV_QPS_RTR:
		return datagrams ? 0 :
				   IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	case IBV_QPS_RTS:
		return IBV_QP_SQ_PSN |
			(datagrams ? 0 :
				     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						IBV_QP_MAX_QP_RD_ATOMIC);
	default: return 0;
	}
}

static void set(struct queue_pair *q, const struct ibv_qp_attr *a, int mask)
{
	struct pair *s = q->shared;
	struct ibv_qp_attr *own = &q->attr;
	if (mask & IBV_QP_ACCESS_FLAGS)
		own->qp_access_flags = s->access = a->qp_access_flags;
	if (mask & IBV_QP_QKEY)
		own->qkey = s->key = a->qkey;
	if (mask & IBV_QP_AV) {
		own->ah_attr = a->ah_attr;
		s->path = (struct path){.lid = a->ah_attr.dlid,
			.global = a->ah_attr.is_global,
			.gid = a->ah_attr.grh.dgid};
	}
	if (mask & IBV_QP_DEST_QPN)
		own->dest_qp_num = s->peer = a->dest_qp_num;
	if (mask & IBV_QP_RQ_PSN)
		own->rq_psn = s->first_packet = s->expected = a->rq_psn & PACKET;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		own->min_rnr_timer = (uint8_t)(s->rnr_timer = a->min_rnr_timer);
	if (mask & IBV_QP_SQ_PSN)
		own->sq_psn = a->sq_psn & PACKET;
	if (mask & IBV_QP_TIMEOUT)
		own->timeout = a->timeout & 31;
	if (mask & IBV_QP_RETRY_CNT)
		own->retry_cnt = a->retry_cnt & 7;
	if (mask & IBV_QP_RNR_RETRY)
		own->rnr_retry = a->rnr_retry & 7;
	if (mask & IBV_QP_PATH_MTU)
		own->path_mtu = a->path_mtu;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		own->max_rd_atomic = a->max_rd_atomic;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		own->max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (mask & IBV_QP_PORT)
		own->port_num = a->port_num;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	struct queue_pair *q = (struct queue_pair *)qp;
	struct context *c = context_of(qp->context);
	bool datagrams = q->shared->datagrams;
	if (refused("modify_qp"))
		return ENOMEM;
	pthread_mutex_lock(&q->lock);
	shared_lock(&q->shared->lock);
	int from = atomic_load(&q->shared->state),
	    to = mask & IBV_QP_STATE ? (int)a->qp_state : from;
	int err = (mask & IBV_QP_STATE) &&
			(!may_change(from, to) ||
				(from != to && (~mask & required(to, datagrams)))) ?
		EINVAL :
		0;
	if ((mask & IBV_QP_AV) &&
		(a->ah_attr.port_num != 1 ||
			(q->qp.context && a->ah_attr.grh.sgid_index >= ADDRESSES)))
		err = EINVAL;
	if (!err) {
		set(q, a, mask);
		atomic_store(&q->shared->state, to);
		qp->state = (enum ibv_qp_state)to;
		q->far = NULL;
	}
	shared_unlock(&q->shared->lock);
	if (!err && (to == IBV_QPS_ERR || to == IBV_QPS_RESET)) {
		send_flush(c, q);
		if (to == IBV_QPS_ERR)
			receives_flush(c, q);
	}
	pthread_mutex_unlock(&q->lock);
	return err;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init)
{
	struct queue_pair *q = (struct queue_pair *)qp;
	(void)mask;
	pthread_mutex_lock(&q->lock);
	*a = q->attr;
	a->qp_state = a->cur_qp_state = (enum ibv_qp_state)atomic_load(&q->shared->state);
	a->rq_psn = q->shared->expected;
	a->cap = q->cap;
	*init = (struct ibv_qp_init_attr){.qp_context = qp->qp_context,
		.send_cq = qp->send_cq,
		.recv_cq = qp->recv_cq,
		.srq = qp->srq,
		.cap = q->cap,
		.qp_type = qp->qp_type,
		.sq_sig_all = q->signal_all};
	pthread_mutex_unlock(&q->lock);
	return 0;
}
