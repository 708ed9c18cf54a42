// SPDX-License-Identifier: BSD-3-Clause
// The send queue of a queue pair. A request is executed when it is posted. If the peer has no
// receive request or does not answer, it waits with all behind it, and is tried again when polled,
// and by the device's thread when a card would.
#include "softverbs.h"

#include <errno.h>
#include <string.h>

static const enum ibv_wc_opcode completed[] = {[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
	[IBV_WR_SEND] = IBV_WC_SEND,
	[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
	[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD};

static bool is_atomic(int opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}
static bool is_known(int opcode) { return opcode <= IBV_WR_ATOMIC_FETCH_AND_ADD; }

static struct context *context(struct queue_pair *q) { return context_of(q->qp.context); }

// Makes a request from what was posted, all but its data.
static void take_request(struct queue_pair *q, const struct ibv_send_wr *w, struct request *r)
{
	r->id = w->wr_id;
	r->opcode = w->opcode;
	r->immediate = w->imm_data;
	r->pieces = (uint32_t)w->num_sge;
	r->signalled = q->signal_all || (w->send_flags & IBV_SEND_SIGNALED);
	r->solicited = w->send_flags & IBV_SEND_SOLICITED;
	r->inlined = w->send_flags & IBV_SEND_INLINE;
	r->posted = ++q->posted;
	if (is_atomic(r->opcode)) {
		r->remote = w->wr.atomic.remote_addr;
		r->key = w->wr.atomic.rkey;
		r->operand = w->wr.atomic.compare_add;
		r->swap = w->wr.atomic.swap;
	} else {
		r->remote = w->wr.rdma.remote_addr;
		r->key = w->wr.rdma.rkey;
	}
}

// The data of a request as it lies in memory; false if the keys do not allow that.
static bool gather(struct queue_pair *q, const struct request *r, const struct ibv_sge *piece,
	struct iovec *mine, size_t *bytes)
{
	bool in = r->opcode == IBV_WR_RDMA_READ || is_atomic(r->opcode);
	*bytes = 0;
	for (uint32_t i = 0; i < r->pieces; i++) {
		const struct ibv_sge *e = &piece[i];
		if (!r->inlined && e->length > 0 &&
			!region_find(context(q)->segment, e->lkey,
				((struct domain *)q->qp.pd)->number, e->addr, e->length,
				in ? IBV_ACCESS_LOCAL_WRITE : 0))
			return false;
		mine[i] = (struct iovec){(void *)(uintptr_t)e->addr, e->length};
		*bytes += e->length;
	}
	return !is_atomic(r->opcode) || (r->pieces == 1 && *bytes == sizeof(uint64_t));
}

static void finish(struct queue_pair *q, const struct request *r, int status, size_t bytes)
{
	struct context *c = context(q);
	if (status == IBV_WC_SUCCESS && !r->signalled)
		return;
	if (settings.never && atomic_fetch_add(&c->completed, 1) + 1 == settings.never)
		return;
	struct completion done = {.posted = r->posted,
		.sent = true,
		.wc = {.wr_id = r->id,
			.status = (enum ibv_wc_status)status,
			.opcode = is_known(r->opcode) ? completed[r->opcode] : 0,
			.qp_num = q->qp.qp_num,
			.byte_len = (uint32_t)bytes}};
	if (settings.late)
		done.visible = now_ns() + (uint64_t)settings.late;
	complete(peer_find(c, q->qp.qp_num), q->send->index, &done, false);
}

static void set_waits(struct queue_pair *q, bool waits)
{
	if (atomic_exchange(&q->waits, waits) != waits)
		atomic_fetch_add(&context(q)->waiting, waits ? 1 : -1);
}

// Ends all that waits. The queue pair is in error.
void send_flush(struct context *c, struct queue_pair *q)
{
	(void)c;
	for (; q->first != q->last; q->first++)
		finish(q, &q->waiting[q->first % q->cap.max_send_wr], IBV_WC_WR_FLUSH_ERR, 0);
	set_waits(q, false);
}

static void fail(struct queue_pair *q, const struct request *r, int status)
{
	atomic_store(&q->shared->state, IBV_QPS_ERR);
	finish(q, r, status, 0);
	send_flush(context(q), q);
	receives_flush(context(q), q);
}

// Counts what has been done, and breaks what was to break then: the status of this request, if it
// does not succeed.
static int breaks(struct queue_pair *q)
{
	struct context *c = context(q);
	long n = atomic_fetch_add(&c->executed, 1) + 1;
	if (settings.vanish_after && n == settings.vanish_after) {
		device_fatal(c);
		return IBV_WC_FATAL_ERR;
	}
	if (settings.down_after && n == settings.down_after)
		port_down(c);
	return settings.break_after && ++q->executed == settings.break_after ?
		IBV_WC_RETRY_EXC_ERR :
		IBV_WC_SUCCESS;
}

enum { BREAKS_NOT, BREAKS_BEFORE, BREAKS_BEHIND };

static uint32_t draw(struct queue_pair *q)
{
	if (!q->random)
		q->random = (uint64_t)q->qp.qp_num * 2654435761u + now_ns();
	q->random ^= q->random << 13;
	q->random ^= q->random >> 7;
	q->random ^= q->random << 17;
	return (uint32_t)(q->random >> 20);
}

// Whether this request of a connection fails for want of an answer, before it was executed or
// behind it.
static int breaks_now(struct queue_pair *q)
{
	if (!settings.break_every || q->qp.qp_type == IBV_QPT_UD)
		return BREAKS_NOT;
	if (q->breaks_at == 0) {
		q->executed = 0;
		q->breaks_at = settings.break_every / 2 + draw(q) % settings.break_every + 1;
	}
	if (++q->executed < q->breaks_at)
		return BREAKS_NOT;
	q->breaks_at = 0;
	return draw(q) % 2 ? BREAKS_BEFORE : BREAKS_BEHIND;
}

static bool faulty(void)
{
	return settings.vanish_after || settings.down_after || settings.break_after;
}

// One request: a status, or NO_RECEIVE, NO_ANSWER.
static int run(struct queue_pair *q, const struct request *r, const struct ibv_sge *piece)
{
	struct iovec mine[MOST_SGE];
	size_t bytes;
	int broken = breaks_now(q);
	if (broken == BREAKS_BEFORE)
		return IBV_WC_RETRY_EXC_ERR;
	if (!is_known(r->opcode))
		return IBV_WC_LOC_QP_OP_ERR;
	if (!gather(q, r, piece, mine, &bytes))
		return IBV_WC_LOC_PROT_ERR;
	int status = execute(q, r, mine, (int)r->pieces, bytes);
	if (status == IBV_WC_SUCCESS && broken == BREAKS_BEHIND && !is_atomic(r->opcode))
		return IBV_WC_RETRY_EXC_ERR;
	if (status == IBV_WC_SUCCESS)
		finish(q, r, status, bytes);
	return status;
}

// Keeps a request. Inline data is kept with it.
static void keep(struct queue_pair *q, struct request *r, const struct ibv_sge *piece)
{
	uint32_t at = q->last++ % q->cap.max_send_wr;
	struct request *to = &q->waiting[at];
	*to = *r;
	memcpy(to->piece, piece, r->pieces * sizeof *piece);
	if (r->inlined) {
		char *data = q->inlined + (size_t)at * q->cap.max_inline_data;
		for (uint32_t i = 0; i < r->pieces; i++) {
			memcpy(data, (void *)(uintptr_t)piece[i].addr, piece[i].length);
			to->piece[i].addr = (uintptr_t)data;
			data += piece[i].length;
		}
	}
}

// When a card would try again, in ns from now.
static uint64_t pause_of(const struct queue_pair *q, int why)
{
	static const uint32_t tens[32] = {65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128,
		192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
		24576, 32768, 49152}; // of us
	if (why == NO_RECEIVE)
		return (uint64_t)tens[q->far->rnr_timer & 31] * 10000;
	return (uint64_t)4096 << (q->attr.timeout ? q->attr.timeout : 20);
}

static void wait_for(struct queue_pair *q, int why)
{
	q->next_try = now_ns() + pause_of(q, why);
	q->tries = q->refusals = 0;
	set_waits(q, true);
	thread_wake(context(q));
}

// The first request that waits was tried in vain by the timer: false if that was the last try.
static bool again(struct queue_pair *q, int why)
{
	q->next_try = now_ns() + pause_of(q, why);
	if (why == NO_RECEIVE)
		return q->attr.rnr_retry == 7 || q->refusals++ < q->attr.rnr_retry;
	return q->attr.timeout == 0 || q->tries++ < q->attr.retry_cnt;
}

// Tries what waits. q is locked.
void send_progress(struct context *c, struct queue_pair *q, bool timer, uint64_t *next)
{
	uint64_t now = timer ? now_ns() : 0;
	if (atomic_load(&q->shared->state) == IBV_QPS_ERR)
		send_flush(c, q);
	while (q->first != q->last) {
		struct request *r = &q->waiting[q->first % q->cap.max_send_wr];
		int status = run(q, r, r->piece);
		if (status < 0 && q->next_try == 0)
			wait_for(q, status);
		if (status < 0) {
			bool due = timer && q->next_try <= now;
			if (!due || again(q, status)) {
				if (next && q->next_try < *next)
					*next = q->next_try;
				return;
			}
			status = status == NO_RECEIVE ? IBV_WC_RNR_RETRY_EXC_ERR :
							IBV_WC_RETRY_EXC_ERR;
		}
		q->first++;
		q->next_try = 0;
		if (status != IBV_WC_SUCCESS)
			fail(q, r, status);
	}
	set_waits(q, false);
}

void progress(struct context *c, bool timer, uint64_t *next)
{
	if (timer)
		pthread_mutex_lock(&c->table);
	else if (pthread_mutex_trylock(&c->table) != 0)
		return;
	for (uint32_t i = 0; i < c->pairs; i++) {
		struct queue_pair *q = c->pair[i];
		if (!q || !atomic_load(&q->waits))
			continue;
		pthread_mutex_lock(&q->lock);
		send_progress(c, q, timer, next);
		pthread_mutex_unlock(&q->lock);
	}
	pthread_mutex_unlock(&c->table);
}

// Whether a request may be posted at all: 0 or an errno value.
static int admissible(struct queue_pair *q, const struct ibv_send_wr *w, int state)
{
	uint32_t bytes = 0;
	if (state != IBV_QPS_RTS && state != IBV_QPS_ERR)
		return EINVAL;
	if (w->num_sge < 0 || (uint32_t)w->num_sge > q->cap.max_send_sge)
		return EINVAL;
	if (q->posted - atomic_load_explicit(&q->retired, memory_order_relaxed) >=
		q->cap.max_send_wr)
		return ENOMEM;
	if (!(w->send_flags & IBV_SEND_INLINE))
		return 0;
	for (int i = 0; i < w->num_sge; i++)
		bytes += w->sg_list[i].length;
	return bytes > q->cap.max_inline_data || w->opcode == IBV_WR_RDMA_READ ||
			is_atomic(w->opcode) ?
		EINVAL :
		0;
}

static void post(struct queue_pair *q, struct ibv_send_wr *w, int state)
{
	struct request r;
	struct iovec mine[MOST_SGE];
	size_t bytes;
	take_request(q, w, &r);
	if (state == IBV_QPS_ERR) {
		finish(q, &r, IBV_WC_WR_FLUSH_ERR, 0);
		return;
	}
	int status = faulty() ? breaks(q) : IBV_WC_SUCCESS;
	if (status != IBV_WC_SUCCESS) {
		fail(q, &r, status);
		return;
	}
	if (q->qp.qp_type == IBV_QPT_UD) {
		if (!gather(q, &r, w->sg_list, mine, &bytes)) {
			fail(q, &r, IBV_WC_LOC_PROT_ERR);
			return;
		}
		finish(q, &r,
			send_datagram(q, w->wr.ud.ah, w->wr.ud.remote_qpn, w->wr.ud.remote_qkey, &r,
				mine, w->num_sge, bytes),
			bytes);
		return;
	}
	if (q->first != q->last) {
		keep(q, &r, w->sg_list);
		return;
	}
	status = run(q, &r, w->sg_list);
	if (status < 0) {
		keep(q, &r, w->sg_list);
		wait_for(q, status);
	} else if (status != IBV_WC_SUCCESS) {
		fail(q, &r, status);
	}
}

int post_send(struct ibv_qp *qp, struct ibv_send_wr *w, struct ibv_send_wr **bad)
{
	struct queue_pair *q = (struct queue_pair *)qp;
	int err = 0;
	if (refused("post_send")) {
		*bad = w;
		return ENOMEM;
	}
	pthread_mutex_lock(&q->lock);
	if (atomic_load_explicit(&q->waits, memory_order_relaxed))
		send_progress(context(q), q, false, NULL);
	for (; w; w = w->next) {
		int state = atomic_load_explicit(&q->shared->state, memory_order_acquire);
		err = context(q)->segment->vanished ? EIO : admissible(q, w, state);
		if (err) {
			*bad = w;
			break;
		}
		post(q, w, state);
	}
	pthread_mutex_unlock(&q->lock);
	return err;
}
