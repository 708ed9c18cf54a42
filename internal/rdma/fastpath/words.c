// SPDX-License-Identifier: BSD-3-Clause Read-modify-writes of words, and operations on mutexes, at
// other nodes: by a question to the rank's data server.
#include "questions.h"

// Posts the question for a read-modify-write, or an operation on a mutex.
static bool post_change(struct fast_change *c, const struct rdma_fast_peer *to, int request)
{
	struct rdma_fast_question q = {
		.prefix = {.kind = RDMA_FAST_QUESTION,
			.id = (uint32_t)rdma_fast_request_number(request)},
		.rank = (uint32_t)c->rank, .op = c->op, .bytes = c->bytes, .word = c->word,
		.operand = c->operand, .compare = c->compare};
	struct rdma_fast_question_bytes bytes = {
		.data = {.addr = (uintptr_t)&q, .length = sizeof q},
		.slot = rdma_fast_take_slot(false), .flags = VB_INLINE,
		.stores = c->op == FAST_UNLOCK};
	return rdma_fast_post_question(to, request, bytes.stores ? NULL : c, &bytes);
}

static bool await_room(const struct fast_change *c)
{
	return (c->op != FAST_UNLOCK || rdma_fast_await_few_questions(RDMA_FAST_MOST_STORES)) &&
	       rdma_fast_await_slots(1);
}

// The result of a call whose question has been posted. It waits for the answer, except for an
// unlock.
static enum fast_result change_result(const struct fast_change *c, int request)
{
	if (c->op == FAST_UNLOCK) {
		rdma_fast_abandon_request(request);
		rdma_fast_count_store(
			&(struct fast_transfer){.rank = c->rank, .at = c->at, .all = c->all});
		return FAST_DONE;
	}
	bool done = rdma_fast_await_request(c->request) && !rdma_fast_request_is_open(c->request);
	return done ? FAST_DONE : FAST_OPEN;
}

enum fast_result rdma_fast_change(struct fast_change *c)
{
	enum fast_result result = FAST_DECLINED;
	if (!rdma_fast_acquire_queues())
		return result;
	const struct rdma_fast_peer *to = rdma_fast_find_peer(c->rank);
	int request = to && await_room(c) ? rdma_fast_open_request(0) : RDMA_FAST_NO_REQUEST;
	if (request != RDMA_FAST_NO_REQUEST) {
		c->request = rdma_fast_request_number(request);
		if (post_change(c, to, request))
			result = change_result(c, request);
	}
	rdma_fast_release_queues();
	return result;
}
