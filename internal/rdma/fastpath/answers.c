// SPDX-License-Identifier: BSD-3-Clause
// Questions of origins' C, answered by C.
#include "answers.h"

#include <string.h>

enum { AT_ONCE = 64, LOOKS = 24 }; // answers, and looks for the next question

static struct rdma_answers_peer *place_of(struct rdma_answers *a, uint32_t number)
{
	return &a->peers[number % RDMA_ANSWERS_PEERS];
}

static struct rdma_answers_peer *peer_of(struct rdma_answers *a, uint32_t number)
{
	struct rdma_answers_peer *p = place_of(a, number);
	return p->pair && p->number == number ? p : NULL;
}

void rdma_answers_add(struct rdma_answers *a, void *pair, uint32_t number)
{
	struct rdma_answers_peer *p = place_of(a, number);
	if (p->outstanding == 0 && p->pair != pair)
		*p = (struct rdma_answers_peer){.pair = pair, .number = number};
}

void rdma_answers_block(struct rdma_answers *a, uint32_t number, bool blocked)
{
	struct rdma_answers_peer *p = peer_of(a, number);
	if (p)
		p->blocked = blocked;
}

void rdma_answers_drop(struct rdma_answers *a, uint32_t number)
{
	struct rdma_answers_peer *p = peer_of(a, number);
	if (p) {
		a->outstanding -= p->outstanding;
		*p = (struct rdma_answers_peer){0};
	}
}

// An answer has left, or never will.
static void left(struct rdma_answers *a, uint32_t number)
{
	struct rdma_answers_peer *p = peer_of(a, number);
	if (p && p->outstanding > 0) {
		p->outstanding--;
		a->outstanding--;
	}
}

static int reply(struct rdma_answers *a, struct rdma_answers_peer *p, uint64_t id, uint64_t old)
{
	struct rdma_fast_answer m = {.prefix = {.kind = RDMA_FAST_ANSWER, .id = id}, .old = old};
	struct vb_sge data = {.addr = (uintptr_t)&m, .length = sizeof m};
	struct vb_request r = {.id = RDMA_FAST_ID, .sges = 1, .op = VB_WR_SEND,
		.flags = VB_SIGNALED | VB_INLINE};
	int posted;
	return a->network->post(p->pair, &r, 1, &data, &posted);
}

// Answers a message that has come. False: nothing has happened, the message is Go's.
static bool answer(struct rdma_answers *a, const struct vb_wc *done)
{
	struct vb_sge buffer = {.addr = a->incoming.lo +
			(done->wr_id & ~RDMA_FAST_RECEIVED) * a->incoming_bytes,
		.length = a->incoming_bytes, .lkey = a->incoming.lkey};
	struct rdma_answers_peer *p = peer_of(a, done->qp_num);
	struct rdma_fast_question q;
	bool (*serve)(struct fast_change *) = atomic_load_explicit(&fast_serve, memory_order_acquire);
	if (!p || p->blocked || done->byte_len != sizeof q || !serve ||
	    p->outstanding >= a->most_each || a->outstanding >= a->most)
		return false;
	memcpy(&q, (const void *)buffer.addr, sizeof q);
	struct fast_change c = {.rank = (int)q.rank, .op = q.op, .bytes = q.bytes, .word = q.word,
		.operand = q.operand, .compare = q.compare};
	if (q.prefix.kind != RDMA_FAST_QUESTION || !serve(&c))
		return false;
	if (reply(a, p, q.prefix.id, c.old) == 0) {
		p->outstanding++;
		a->outstanding++;
		a->answered++;
	} else {
		a->failed = p->number;
		p->blocked = true;
	}
	a->network->offer(a->receive, done->wr_id, &buffer);
	return true;
}

int rdma_answers_take(struct rdma_answers *a, int n, struct vb_wc *out)
{
	int rest = 0;
	bool gos = false; // a message: those behind it are, too
	for (int i = 0; i < n; i++) {
		bool ok = out[i].status == 0, message = out[i].wr_id & RDMA_FAST_RECEIVED;
		if (out[i].wr_id == RDMA_FAST_ID) {
			left(a, out[i].qp_num);
			if (ok)
				continue;
		}
		if (message && ok && !gos && answer(a, &out[i]))
			continue;
		gos = gos || message;
		out[rest++] = out[i];
	}
	return rest;
}

int rdma_answers_look(struct rdma_answers *a, int n, struct vb_wc *out, unsigned looks,
	unsigned yields)
{
	uint32_t before = a->answered;
	int rest = 0, some = a->network->look(a->queue, n, out, looks, yields);
	// Most questions follow soon on an answer; a caller that wants one completion waits for it.
	while (some > 0 && (rest = rdma_answers_take(a, some, out)) == 0 && n > 1 &&
	       a->answered != before && a->answered - before < AT_ONCE)
		some = a->network->look(a->queue, n, out, LOOKS, 0);
	return some < 0 ? some : rest;
}
