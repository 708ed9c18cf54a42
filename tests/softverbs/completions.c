// SPDX-License-Identifier: BSD-3-Clause
// Completion queues: rings that any process adds to and the owner takes from, and the event when
// one is armed.
#include "softverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Adds one to a queue, with its message; false if it is full.
static bool add(struct segment *s, struct completions *c, const struct completion *done,
	const struct iovec *mine, int n)
{
	uint32_t tail = atomic_load_explicit(&c->tail, memory_order_relaxed);
	if (tail - atomic_load_explicit(&c->head, memory_order_acquire) >= c->size) {
		c->overrun = true;
		return false;
	}
	*completion(s, c, tail) = *done;
	char *to = stage(s, c, tail);
	for (int i = 0; i < n; to += mine[i++].iov_len)
		memcpy(to, mine[i].iov_base, mine[i].iov_len);
	atomic_exchange(&c->tail, tail + 1); // before armed is looked at
	return true;
}

void complete(struct peer *p, uint32_t queue, const struct completion *done, bool solicited)
{
	complete_staged(p, queue, done, solicited, NULL, 0);
}

void complete_staged(struct peer *p, uint32_t queue, const struct completion *done, bool solicited,
	const struct iovec *mine, int n)
{
	struct completions *c = &p->segment->completions[queue];
	bool ring = false;
	shared_lock(&c->lock);
	add(p->segment, c, done, mine, n);
	uint32_t armed = atomic_load(&c->armed);
	if (armed == ARMED_ALL || (armed && (solicited || done->wc.status != IBV_WC_SUCCESS))) {
		atomic_store(&c->armed, 0);
		ring = true;
	}
	if (ring && done->visible) {
		atomic_store(&c->late, done->visible);
		ring = false;
		segment_ring(p->segment);
	}
	shared_unlock(&c->lock);
	if (ring)
		peer_ring(p, c, queue);
}

void ring_late(struct context *c, uint64_t now, uint64_t *next)
{
	struct peer *self = peer_find(c, c->segment->number << INDEX_BITS);
	for (uint32_t i = 0; self && i < c->queues; i++) {
		struct completions *q = &c->segment->completions[i];
		uint64_t at = atomic_load(&q->late);
		if (at == 0)
			continue;
		if (at <= now && atomic_compare_exchange_strong(&q->late, &at, 0))
			peer_ring(self, q, i);
		else if (at < *next)
			*next = at;
	}
}

// Lets two neighbours of different queue pairs change places now and then; both are the owner's
// already.
static void reorder(struct queue *q, uint32_t head, uint32_t tail)
{
	static _Thread_local uint32_t dice = 1;
	if (tail - head < 2 || ((dice = dice * 1103515245u + 12345u) >> 16) % 2)
		return;
	struct context *c = context_of(q->cq.context);
	struct completion *a = completion(c->segment, q->shared, head),
			  *b = completion(c->segment, q->shared, head + 1), t = *a;
	if (a->wc.qp_num != b->wc.qp_num && !a->staged && !b->staged)
		*a = *b, *b = t;
}

static void retire(struct context *c, const struct completion *done)
{
	struct queue_pair *q = c->pair[done->wc.qp_num & (PAIRS - 1)];
	if (done->sent && q && q->qp.qp_num == done->wc.qp_num)
		atomic_store_explicit(&q->retired, done->posted, memory_order_relaxed);
}

int poll_queue(struct ibv_cq *cq, int n, struct ibv_wc *out)
{
	struct queue *q = (struct queue *)cq;
	struct completions *s = q->shared;
	struct context *c = context_of(cq->context);
	int got = 0;
	if (atomic_load_explicit(&c->waiting, memory_order_relaxed) > 0)
		progress(c, false, NULL);
	if (atomic_load_explicit(&s->head, memory_order_relaxed) ==
		atomic_load_explicit(&s->tail, memory_order_acquire))
		return 0;
	pthread_mutex_lock(&q->take);
	uint32_t head = atomic_load(&s->head), tail = atomic_load(&s->tail);
	for (; got < n && head != tail; got++, head++) {
		if (settings.reorder)
			reorder(q, head, tail);
		struct completion *done = completion(c->segment, s, head);
		if (done->visible && done->visible > now_ns())
			break;
		if (done->staged)
			memcpy((void *)(uintptr_t)done->to, stage(c->segment, s, head),
				done->staged);
		out[got] = done->wc;
		retire(c, done);
	}
	atomic_store_explicit(&s->head, head, memory_order_release);
	pthread_mutex_unlock(&q->take);
	return got;
}

// Handles a completion that came before the queue was armed but is not visible yet: its event is
// raised when it becomes visible.
static void arm_for_late(struct queue *q)
{
	struct context *c = context_of(q->cq.context);
	struct completions *s = q->shared;
	shared_lock(&s->lock);
	uint32_t head = atomic_load(&s->head);
	uint64_t at = head != atomic_load(&s->tail) ? completion(c->segment, s, head)->visible : 0;
	if (at) {
		atomic_store(&s->armed, 0);
		atomic_store(&s->late, at);
		thread_wake(c);
	}
	shared_unlock(&s->lock);
}

int arm_queue(struct ibv_cq *cq, int solicited_only)
{
	struct completions *s = ((struct queue *)cq)->shared;
	uint32_t was = 0;
	if (refused("req_notify_cq"))
		return ENOMEM;
	if (!solicited_only)
		atomic_store(&s->armed, ARMED_ALL);
	else
		atomic_compare_exchange_strong(&s->armed, &was, ARMED_SOLICITED);
	if (settings.late)
		arm_for_late((struct queue *)cq);
	return 0;
}

// Takes those of a queue pair out that is destroyed.
void completions_purge(struct queue *q, uint32_t pair)
{
	struct context *c = context_of(q->cq.context);
	struct completions *s = q->shared;
	pthread_mutex_lock(&q->take);
	shared_lock(&s->lock);
	uint32_t head = atomic_load(&s->head), tail = atomic_load(&s->tail), to = tail;
	for (uint32_t i = tail; i != head; i--) {
		struct completion *one = completion(c->segment, s, i - 1);
		if (one->wc.qp_num == pair)
			continue;
		if (one->staged && to != i)
			memcpy(stage(c->segment, s, to - 1), stage(c->segment, s, i - 1),
				one->staged);
		*completion(c->segment, s, --to) = *one;
	}
	atomic_store(&s->head, to);
	shared_unlock(&s->lock);
	pthread_mutex_unlock(&q->take);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *user,
	struct ibv_comp_channel *channel, int vector)
{
	struct context *c = context_of(context);
	if (refused("create_cq"))
		return NULL;
	if (cqe < 1 || cqe > settings.max_completions || vector != 0) {
		errno = EINVAL;
		return NULL;
	}
	struct queue *q = calloc(1, sizeof *q);
	uint32_t i = 0, size = power_of_two((uint32_t)cqe);
	if (!q)
		return NULL;
	q->bytes = size * (sizeof(struct completion) + (size > STAGES ? 0 : STAGE_BYTES));
	pthread_mutex_lock(&c->table);
	while (i < QUEUES && c->queue[i])
		i++;
	uint64_t ring = i < QUEUES ? rings_take(c, q->bytes) : UINT64_MAX;
	if (ring == UINT64_MAX) {
		pthread_mutex_unlock(&c->table);
		free(q);
		errno = ENOMEM;
		return NULL;
	}
	struct completions *s = &c->segment->completions[i];
	*s = (struct completions){.size = size, .serial = ++c->serial, .ring = ring};
	s->channel = channel ? ((struct channel *)channel)->index : -1;
	shared_mutex(&s->lock);
	q->cq = (struct ibv_cq){.context = context,
		.channel = channel,
		.cq_context = user,
		.handle = i,
		.cqe = cqe};
	pthread_mutex_init(&q->take, NULL);
	q->shared = s;
	q->index = i;
	if (channel)
		channel->refcnt++;
	c->queue[i] = q;
	c->queues = i < c->queues ? c->queues : i + 1;
	pthread_mutex_unlock(&c->table);
	return &q->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct queue *q = (struct queue *)cq;
	struct context *c = context_of(cq->context);
	pthread_mutex_lock(&c->table);
	c->queue[q->index] = NULL;
	if (cq->channel)
		cq->channel->refcnt--;
	rings_give(c, q->shared->ring, q->bytes);
	pthread_mutex_unlock(&c->table);
	free(q);
	return 0;
}
