// SPDX-License-Identifier: BSD-3-Clause
// Two-sided messages that are short enough for one message of the network: C asks the rank's data
// server to deliver them, as it asks for an accumulate, and the answer says that another one may be
// sent. And what both have in common.
#include "questions.h"

#include <string.h>

#include "../../kernel/kernel.h"

bool rdma_fast_prepare(struct rdma_fast_long_question *q, const struct rdma_fast_peer *to,
	int32_t most)
{
	q->in_line = q->bytes <= rdma_fast_longest_inline();
	if (q->bytes > to->most || (!q->in_line && q->bytes > rdma_fast.buffer_bytes) ||
	    !rdma_fast_await_few(most) ||
	    !(q->in_line ? rdma_fast_await_slots(1) : rdma_fast_await_buffer()))
		return false;
	q->request = rdma_fast_request(0);
	if (q->request == RDMA_FAST_NO_REQUEST)
		return false;
	q->slot = rdma_fast_slot(!q->in_line);
	q->at = q->in_line ? q->line : (char *)rdma_fast_buffer((unsigned)q->slot);
	return true;
}

struct rdma_fast_prefix rdma_fast_prefix_of(const struct rdma_fast_long_question *q)
{
	return (struct rdma_fast_prefix){.kind = RDMA_FAST_QUESTION,
		.id = (uint32_t)rdma_fast_number(q->request)};
}

bool rdma_fast_ask_long(const struct rdma_fast_long_question *q, const struct rdma_fast_peer *to,
	bool stores)
{
	struct rdma_fast_question_bytes bytes = {.slot = q->slot, .stores = stores,
		.flags = q->in_line ? VB_INLINE : 0,
		.data = {.addr = (uintptr_t)q->at, .length = q->bytes,
			.lkey = rdma_fast.buffers.lkey}};
	if (!rdma_fast_ask(to, q->request, NULL, &bytes))
		return false;
	rdma_fast_abandon(q->request);
	return true;
}

_Static_assert(sizeof(struct rdma_fast_send_question) == sizeof(struct rdma_fast_question), "");

static bool ask(const struct fast_send *s, const struct rdma_fast_peer *to)
{
	struct rdma_fast_long_question m;
	struct rdma_fast_send_question q = {.rank = (uint32_t)s->rank, .op = RDMA_FAST_SEND,
		.from = (uint32_t)s->from, .tag = s->tag};
	m.bytes = (uint32_t)(sizeof q + s->bytes);
	if (!rdma_fast_prepare(&m, to, RDMA_FAST_MOST_SENDS)) {
		if (m.bytes <= to->most) // the next one need not wait in vain, too
			atomic_store(rdma_fast_behind(s->rank), true);
		return false;
	}
	q.prefix = rdma_fast_prefix_of(&m);
	memcpy(m.at, &q, sizeof q);
	k_copy(m.at + sizeof q, s->data, s->bytes);
	return rdma_fast_ask_long(&m, to, false);
}

enum fast_result rdma_fast_send(const struct fast_send *s)
{
	if (s->bytes > rdma_fast.buffer_bytes || !rdma_fast_enter())
		return FAST_DECLINED;
	const struct rdma_fast_peer *to = rdma_fast_peer_of(s->rank);
	bool ok = to && !atomic_load(rdma_fast_behind(s->rank)) && ask(s, to);
	rdma_fast_leave();
	return ok ? FAST_DONE : FAST_DECLINED;
}
