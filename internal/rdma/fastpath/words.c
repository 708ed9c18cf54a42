// SPDX-License-Identifier: BSD-3-Clause
// Read-modify-writes of words at other nodes: C asks the rank's data server, and takes its answer,
// whichever thread finds that. A question is asked under a request of its own, behind everything
// posted before, and counts as no frame: its answer says that it has taken effect. The caller has
// the queues, except for rdma_fast_change.
#include "fastpath.h"

#include <string.h>

static struct rdma_fast_peer *peer_of(int rank)
{
	struct rdma_fast_peer *p = &rdma_fast.peers[(unsigned)rank % RDMA_FAST_PEERS];
	return p->rank == rank ? p : NULL;
}

// Posts a question under a request: false if the network has refused it.
static bool ask(struct fast_change *c, const struct rdma_fast_peer *to, int request)
{
	int32_t number = atomic_load_explicit(&rdma_fast.requests[request].number, memory_order_relaxed);
	struct rdma_fast_question q = {
		.prefix = {.kind = RDMA_FAST_QUESTION, .id = (uint32_t)number},
		.rank = (uint32_t)c->rank, .op = c->op, .bytes = c->bytes, .word = c->word,
		.operand = c->operand, .compare = c->compare};
	struct rdma_fast_range way = {.rank = to->rank, .pair = to->pair};
	struct rdma_fast_piece p = {.to = &way};
	struct vb_sge data = {.addr = (uintptr_t)&q, .length = sizeof q};
	rdma_fast_hold(request); // until the answer
	rdma_fast.asked[request] = (struct rdma_fast_asked){to->pair, c};
	if (rdma_fast_post(&p, rdma_fast_slot(false), RDMA_FAST_NO_REQUEST, VB_WR_SEND, VB_INLINE, data, 0))
		return true;
	rdma_fast.asked[request].pair = NULL;
	rdma_fast_let_go(request);
	return false;
}

enum fast_result rdma_fast_change(struct fast_change *c)
{
	enum fast_result result = FAST_DECLINED;
	if (!rdma_fast_enter())
		return result;
	const struct rdma_fast_peer *to = peer_of(c->rank);
	int request = to && rdma_fast_await_slots(1) ? rdma_fast_request(0) : RDMA_FAST_NO_REQUEST;
	if (request != RDMA_FAST_NO_REQUEST) {
		c->request = atomic_load_explicit(&rdma_fast.requests[request].number, memory_order_relaxed);
		if (ask(c, to, request))
			result = rdma_fast_await_request(c->request) && !rdma_fast_is_open(c->request) ?
				FAST_DONE : FAST_OPEN;
	}
	rdma_fast_leave();
	return result;
}

bool rdma_fast_receive(uint32_t pair, const void *message, uint32_t n)
{
	struct rdma_fast_answer a;
	if (n != sizeof a)
		return false;
	memcpy(&a, message, sizeof a);
	if (a.prefix.kind != RDMA_FAST_ANSWER)
		return false;
	int32_t number = (int32_t)a.prefix.id;
	unsigned place = (unsigned)number % RDMA_FAST_DEPTH;
	struct rdma_fast_asked *q = &rdma_fast.asked[place];
	if (!rdma_fast_is_open(number) || !q->pair || rdma_fast.network->number(q->pair) != pair)
		return true; // its request has failed
	q->change->old = a.old;
	q->change->declined = a.declined != 0;
	q->pair = NULL;
	rdma_fast_let_go((int)place);
	return true;
}

void rdma_fast_fail_asked(const void *pair)
{
	for (int i = 0; pair && i < (int)RDMA_FAST_DEPTH; i++)
		if (rdma_fast.asked[i].pair == pair) {
			rdma_fast.asked[i].pair = NULL;
			rdma_fast_note_failure(i, rdma_fast.asked[i].change->rank);
			rdma_fast_let_go(i);
		}
}

bool rdma_fast_has_asked(const void *pair)
{
	for (unsigned i = 0; pair && i < RDMA_FAST_DEPTH; i++)
		if (rdma_fast.asked[i].pair == pair)
			return true;
	return false;
}
