// SPDX-License-Identifier: BSD-3-Clause
// Receive queues, shared or of one queue pair: rings that the owner adds to and senders take from.
#include "softverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int receives_open(struct context *c, uint32_t *index, uint32_t n, uint32_t pieces, uint32_t domain,
	uint64_t *bytes)
{
	uint32_t i = 0, size = power_of_two(n ? n : 1);
	*bytes = size * (sizeof(struct recv_request) + pieces * sizeof(struct ibv_sge));
	pthread_mutex_lock(&c->table);
	while (i < RECEIVES && c->segment->receives[i].size)
		i++;
	uint64_t ring = i < RECEIVES ? rings_take(c, *bytes) : UINT64_MAX;
	if (ring != UINT64_MAX) {
		struct receives *r = &c->segment->receives[i];
		*r = (struct receives){.size = size,
			.pieces = pieces,
			.domain = domain,
			.ring = ring};
		shared_mutex(&r->lock);
	}
	pthread_mutex_unlock(&c->table);
	*index = i;
	return ring == UINT64_MAX ? ENOMEM : 0;
}

void receives_close(struct context *c, uint32_t index, uint64_t bytes)
{
	struct receives *r = &c->segment->receives[index];
	pthread_mutex_lock(&c->table);
	r->size = 0;
	rings_give(c, r->ring, bytes);
	pthread_mutex_unlock(&c->table);
}

// Where the pieces of a request are: false if one is not what may be written.
static bool spans(struct peer *p, const struct receives *r, const struct recv_request *w,
	size_t bytes, struct received *out)
{
	uint32_t i = 0;
	for (out->spans = 0; i < w->pieces && bytes > 0; i++) {
		const struct ibv_sge *e = &w->piece[i];
		size_t n = e->length < bytes ? e->length : bytes;
		const struct region *at = region_find(p->segment, e->lkey, r->domain, e->addr,
			e->length, IBV_ACCESS_LOCAL_WRITE);
		if (!at)
			return false;
		out->span[out->spans++] = (struct span){mapping_at(p, at, e->addr), e->addr, n};
		bytes -= n;
	}
	return true;
}

// Takes a receive request for a message of so many bytes. Other errors than that there is none have
// used it up.
int receive_take(struct peer *p, struct pair *at, size_t bytes, struct received *out)
{
	char room[sizeof(struct recv_request) + MOST_SGE * sizeof(struct ibv_sge)]
		__attribute__((aligned(8)));
	struct recv_request *w = (struct recv_request *)room;
	struct receives *r = &p->segment->receives[at->receives];
	size_t holds = 0;
	shared_lock(&r->lock);
	bool some = r->head != r->tail;
	if (some) {
		const struct recv_request *first = recv_request(p->segment, r, r->head);
		memcpy(w, first, sizeof *w + first->pieces * sizeof(struct ibv_sge));
		r->head++;
	}
	shared_unlock(&r->lock);
	if (!some)
		return NO_RECEIVE;
	out->id = w->id;
	for (uint32_t i = 0; i < w->pieces; i++)
		holds += w->piece[i].length;
	if (holds < bytes)
		return IBV_WC_LOC_LEN_ERR;
	return spans(p, r, w, bytes, out) ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
}

static int post(struct segment *s, struct receives *r, struct ibv_recv_wr *w,
	struct ibv_recv_wr **bad)
{
	int err = 0;
	shared_lock(&r->lock);
	for (; w && !err; w = w->next) {
		if (w->num_sge < 0 || (uint32_t)w->num_sge > r->pieces)
			err = EINVAL;
		else if (r->tail - r->head >= r->size)
			err = ENOMEM;
		if (err)
			break;
		struct recv_request *to = recv_request(s, r, r->tail);
		to->id = w->wr_id;
		to->pieces = (uint32_t)w->num_sge;
		memcpy(to->piece, w->sg_list, (size_t)w->num_sge * sizeof(struct ibv_sge));
		r->tail++;
	}
	shared_unlock(&r->lock);
	*bad = w;
	return err;
}

int post_srq_receive(struct ibv_srq *srq, struct ibv_recv_wr *w, struct ibv_recv_wr **bad)
{
	struct ibv_recv_wr *failed;
	if (refused("post_srq_recv")) {
		*(bad ? bad : &failed) = w;
		return ENOMEM;
	}
	return post(context_of(srq->context)->segment, ((struct shared_receives *)srq)->shared, w,
		bad ? bad : &failed);
}

int post_receive(struct ibv_qp *qp, struct ibv_recv_wr *w, struct ibv_recv_wr **bad)
{
	struct queue_pair *q = (struct queue_pair *)qp;
	struct context *c = context_of(qp->context);
	struct ibv_recv_wr *failed;
	if (!q->own || atomic_load(&q->shared->state) == IBV_QPS_RESET) {
		*(bad ? bad : &failed) = w;
		return EINVAL;
	}
	int err = post(c->segment, q->own, w, bad ? bad : &failed);
	if (atomic_load(&q->shared->state) == IBV_QPS_ERR)
		receives_flush(c, q);
	return err;
}

// Ends what is posted to a queue pair that is in error.
void receives_flush(struct context *c, struct queue_pair *q)
{
	struct receives *r = q->own;
	struct peer *self = peer_find(c, q->qp.qp_num);
	for (bool some = r && self; some;) {
		struct completion done = {.wc = {.status = IBV_WC_WR_FLUSH_ERR,
						  .opcode = IBV_WC_RECV,
						  .qp_num = q->qp.qp_num}};
		shared_lock(&r->lock);
		some = r->head != r->tail;
		if (some)
			done.wc.wr_id = recv_request(c->segment, r, r->head++)->id;
		shared_unlock(&r->lock);
		if (some)
			complete(self, q->receive->index, &done, true);
	}
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *a)
{
	struct context *c = context_of(pd->context);
	if (refused("create_srq"))
		return NULL;
	if (a->attr.max_wr < 1 || a->attr.max_wr > (uint32_t)settings.max_receives ||
		a->attr.max_sge > (uint32_t)settings.max_pieces) {
		errno = EINVAL;
		return NULL;
	}
	struct shared_receives *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	errno = receives_open(c, &s->index, a->attr.max_wr, a->attr.max_sge,
		((struct domain *)pd)->number, &s->bytes);
	if (errno) {
		free(s);
		return NULL;
	}
	s->shared = &c->segment->receives[s->index];
	s->srq = (struct ibv_srq){.context = pd->context,
		.srq_context = a->srq_context,
		.pd = pd,
		.handle = s->index};
	return &s->srq;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct shared_receives *s = (struct shared_receives *)srq;
	receives_close(context_of(srq->context), s->index, s->bytes);
	free(s);
	return 0;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *out)
{
	const struct receives *r = ((struct shared_receives *)srq)->shared;
	*out = (struct ibv_srq_attr){.max_wr = r->size, .max_sge = r->pieces};
	return 0;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *a, int mask)
{
	(void)srq, (void)a;
	return mask ? EOPNOTSUPP : 0;
}
