// SPDX-License-Identifier: BSD-3-Clause
// Read-modify-writes of words at other nodes: C asks the rank's data server for them.
#include "questions.h"

static bool ask_change(struct fast_change *c, const struct rdma_fast_peer *to, int request)
{
	struct rdma_fast_question q = {
		.prefix = {.kind = RDMA_FAST_QUESTION, .id = (uint32_t)rdma_fast_number(request)},
		.rank = (uint32_t)c->rank, .op = c->op, .bytes = c->bytes, .word = c->word,
		.operand = c->operand, .compare = c->compare};
	struct rdma_fast_question_bytes bytes = {
		.data = {.addr = (uintptr_t)&q, .length = sizeof q},
		.slot = rdma_fast_slot(false), .flags = VB_INLINE,
		.stores = c->op == FAST_UNLOCK};
	return rdma_fast_ask(to, request, bytes.stores ? NULL : c, &bytes);
}

static bool await_room(const struct fast_change *c)
{
	return (c->op != FAST_UNLOCK || rdma_fast_await_few(RDMA_FAST_MOST_STORES)) &&
	       rdma_fast_await_slots(1);
}

// What a caller gets for a question that has been asked.
static enum fast_result outcome(const struct fast_change *c, int request)
{
	if (c->op == FAST_UNLOCK) {
		rdma_fast_abandon(request);
		rdma_fast_count_store(
			&(struct fast_transfer){.rank = c->rank, .at = c->at, .all = c->all});
		return FAST_DONE;
	}
	return rdma_fast_await_request(c->request) && !rdma_fast_is_open(c->request) ? FAST_DONE :
	                                                                                FAST_OPEN;
}

enum fast_result rdma_fast_change(struct fast_change *c)
{
	enum fast_result result = FAST_DECLINED;
	if (!rdma_fast_enter())
		return result;
	const struct rdma_fast_peer *to = rdma_fast_peer_of(c->rank);
	int request = to && await_room(c) ? rdma_fast_request(0) : RDMA_FAST_NO_REQUEST;
	if (request != RDMA_FAST_NO_REQUEST) {
		c->request = rdma_fast_number(request);
		if (ask_change(c, to, request))
			result = outcome(c, request);
	}
	rdma_fast_leave();
	return result;
}
