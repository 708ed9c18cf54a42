// SPDX-License-Identifier: BSD-3-Clause
// Questions of origins' C, answered by the C of the data server.
#include "answers.h"

#include <string.h>

enum {
	// Answers of one call. Then the caller checks whether it shares its core with an origin.
	MOST_IN_ONE_CALL = 8,
	POLLS_FOR_NEXT = 24 // for the next question after an answer
};

static struct rdma_answers_peer *peer_entry(struct rdma_answers *a, uint32_t number)
{
	return &a->peers[number % RDMA_ANSWERS_PEERS];
}

static struct rdma_answers_peer *find_peer(struct rdma_answers *a, uint32_t number)
{
	struct rdma_answers_peer *p = peer_entry(a, number);
	return p->pair && p->number == number ? p : NULL;
}

void rdma_answers_add_peer(struct rdma_answers *a, void *pair, uint32_t number)
{
	struct rdma_answers_peer *p = peer_entry(a, number);
	if (p->outstanding == 0 && p->pair != pair)
		*p = (struct rdma_answers_peer){.pair = pair, .number = number};
}

void rdma_answers_block_peer(struct rdma_answers *a, uint32_t number, bool blocked)
{
	struct rdma_answers_peer *p = find_peer(a, number);
	if (p)
		p->blocked = blocked;
}

void rdma_answers_drop_peer(struct rdma_answers *a, uint32_t number)
{
	struct rdma_answers_peer *p = find_peer(a, number);
	if (p) {
		a->outstanding -= p->outstanding;
		*p = (struct rdma_answers_peer){0};
	}
}

// Counts that an answer has been sent, or has failed.
static void answer_sent(struct rdma_answers *a, uint32_t number)
{
	struct rdma_answers_peer *p = find_peer(a, number);
	if (p && p->outstanding > 0) {
		p->outstanding--;
		a->outstanding--;
	}
}

// Posts the answer to question id. Returns 0, or an error of the network.
static int post_answer(struct rdma_answers *a, struct rdma_answers_peer *p, uint64_t id,
	uint64_t old)
{
	struct rdma_fast_answer m = {.prefix = {.kind = RDMA_FAST_ANSWER, .id = id}, .old = old};
	struct vb_sge data = {.addr = (uintptr_t)&m, .length = sizeof m};
	// Ids differ, so that a queue pair that has failed knows which one it was.
	struct vb_request r = {.id = RDMA_FAST_ID | a->answered, .sges = 1, .op = VB_WR_SEND,
		.flags = VB_SIGNALED | VB_INLINE};
	int posted;
	return a->network->post(p->pair, &r, 1, &data, &posted);
}

// Carries out a question about a word, by the function that package core has installed.
static bool serve_word(const void *message, uint64_t *old)
{
	struct rdma_fast_question q;
	bool (*serve)(struct fast_change *) =
		atomic_load_explicit(&fast_serve, memory_order_acquire);
	memcpy(&q, message, sizeof q);
	struct fast_change c = {.rank = (int)q.rank, .op = q.op, .bytes = q.bytes, .word = q.word,
		.operand = q.operand, .compare = q.compare};
	bool done = serve && serve(&c);
	*old = c.old;
	return done;
}

bool rdma_fast_decode_acc(struct fast_acc *a, const void *message, uint32_t n)
{
	const struct rdma_fast_acc_question *q = message;
	int64_t lo, hi;
	*a = (struct fast_acc){0};
	if (n < sizeof(struct rdma_fast_question) || q->prefix.kind != RDMA_FAST_QUESTION ||
	    q->op != RDMA_FAST_ACC || q->levels > K_MAX_LEVELS)
		return false;
	uint32_t head = rdma_fast_acc_head(q->levels);
	if (head >= n)
		return false;
	*a = (struct fast_acc){.rank = (int)q->rank, .type = q->type, .scale = q->scale,
		.to = q->to, .count = q->shape, .stride = q->shape + q->levels + 1,
		.levels = q->levels,
		.bytes = n - head, .data = (const char *)message + head};
	return q->type <= K_DCP && (size_t)q->shape[0] % k_type_size(q->type) == 0 &&
	       k_extent(a->stride, a->count, a->levels, &lo, &hi) == (int64_t)a->bytes;
}

static bool serve_acc(const void *message, uint32_t n)
{
	struct fast_acc acc;
	bool (*serve)(const struct fast_acc *) =
		atomic_load_explicit(&fast_serve_acc, memory_order_acquire);
	return rdma_fast_decode_acc(&acc, message, n) && serve && serve(&acc);
}

bool rdma_fast_decode_send(struct fast_send *s, const void *message, uint32_t n)
{
	const struct rdma_fast_send_question *q = message;
	if (n < sizeof *q || q->prefix.kind != RDMA_FAST_QUESTION || q->op != RDMA_FAST_SEND)
		return false;
	*s = (struct fast_send){.rank = (int)q->rank, .from = (int)q->from, .tag = q->tag,
		.data = q + 1, .bytes = n - sizeof *q};
	return true;
}

static bool serve_send(const void *message, uint32_t n)
{
	struct fast_send s;
	bool (*serve)(const struct fast_send *) =
		atomic_load_explicit(&fast_serve_send, memory_order_acquire);
	return rdma_fast_decode_send(&s, message, n) && serve && serve(&s);
}

// Carries out a question. False: nothing has happened.
static bool carry_out(const struct rdma_fast_question *q, uint32_t n, uint64_t *old)
{
	switch (q->op) {
	case RDMA_FAST_ACC: return serve_acc(q, n);
	case RDMA_FAST_SEND: return serve_send(q, n);
	default: return n == sizeof *q && serve_word(q, old);
	}
}

// Answers a message that was received. False: nothing has happened, and Go has to handle it.
static bool answer_message(struct rdma_answers *a, const struct vb_wc *done)
{
	struct vb_sge buffer =
		rdma_fast_receive_buffer(&a->incoming, a->incoming_bytes, done->wr_id);
	struct rdma_answers_peer *p = find_peer(a, done->qp_num);
	const struct rdma_fast_question *q = (const void *)buffer.addr; // aligned: a page at least
	uint64_t old = 0;
	bool room = p && p->outstanding < a->most_each && a->outstanding < a->most;
	if (!room || p->blocked || a->failed || done->byte_len < sizeof *q ||
	    q->prefix.kind != RDMA_FAST_QUESTION || !carry_out(q, done->byte_len, &old))
		return false;
	if (post_answer(a, p, q->prefix.id, old) == 0) {
		p->outstanding++;
		a->outstanding++;
		a->answered++;
		a->needed += q->op != RDMA_FAST_SEND || q->rank != a->me;
	} else {
		a->failed = p->number;
	}
	if (a->network->offer(a->receive, done->wr_id, &buffer) != 0)
		a->failed = p->number;
	return true;
}

int rdma_answers_filter(struct rdma_answers *a, int n, struct vb_wc *out)
{
	int rest = 0;
	bool gos = false; // a message is left to Go: later ones must not overtake it
	for (int i = 0; i < n; i++) {
		bool ok = out[i].status == 0, message = out[i].wr_id & RDMA_FAST_RECEIVED;
		if (out[i].wr_id >> 62 == RDMA_FAST_ID >> 62) {
			answer_sent(a, out[i].qp_num);
			if (ok)
				continue;
		}
		if (message && ok && !gos && answer_message(a, &out[i]))
			continue;
		gos = gos || message;
		out[rest++] = out[i];
	}
	return rest;
}

int rdma_answers_poll(struct rdma_answers *a, int n, struct vb_wc *out, unsigned looks,
	unsigned yields)
{
	int some = a->network->look(a->queue, n, out, looks, yields);
	for (uint32_t before = a->answered; some > 0;) {
		int rest = rdma_answers_filter(a, some, out);
		uint32_t answered = a->answered - before;
		// A caller that takes one completion at a time checks its own condition next.
		if (rest > 0 || answered >= MOST_IN_ONE_CALL || (answered > 0 && n == 1))
			return rest;
		// Most questions follow soon on an answer; but others may have arrived already.
		some = a->network->look(a->queue, n, out, answered > 0 ? POLLS_FOR_NEXT : 1, 0);
	}
	return some;
}
