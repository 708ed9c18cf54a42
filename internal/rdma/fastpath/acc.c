// SPDX-License-Identifier: BSD-3-Clause
// Accumulates that are short enough for one message: C asks the rank's data server for them as for
// a read-modify-write (words.c), but waits for no answer. The answer says that the store has taken
// effect. Until then nothing else is posted to that memory, since a device would overtake it.
#include "fastpath.h"

#include <string.h>

// The message, and where it is.
struct message {
	int request, slot;
	bool in_line;
	uint32_t head, bytes;
	char *at;
	char line[FAST_BYTES];
};

static bool known(const struct fast_acc *a)
{
	int64_t lo, hi;
	if (k_extent(a->stride, a->count, a->levels, &lo, &hi) != (int64_t)a->bytes)
		return false;
	uintptr_t first = a->to + (uintptr_t)lo, end = a->to + (uintptr_t)hi;
	const struct rdma_fast_span *s = rdma_fast_span_place(a->rank, a->to);
	return s->rank == a->rank && first >= s->lo && first < end && end <= s->hi;
}

// Finds room for the message.
static bool prepare(struct message *m, const struct fast_acc *a, const struct rdma_fast_peer *to)
{
	m->head = rdma_fast_acc_head(a->levels);
	m->bytes = m->head + (uint32_t)a->bytes;
	m->in_line = m->bytes <= rdma_fast_longest_inline();
	if (m->bytes > to->most || (!m->in_line && m->bytes > rdma_fast.buffer_bytes) ||
	    !rdma_fast_await_few_stores() ||
	    !(m->in_line ? rdma_fast_await_slots(1) : rdma_fast_await_buffer()))
		return false;
	m->request = rdma_fast_request(0);
	if (m->request == RDMA_FAST_NO_REQUEST)
		return false;
	m->slot = rdma_fast_slot(!m->in_line);
	m->at = m->in_line ? m->line : (char *)rdma_fast_buffer((unsigned)m->slot);
	return true;
}

static void encode(struct message *m, struct fast_acc *a)
{
	uint32_t number = (uint32_t)rdma_fast_number(m->request);
	struct rdma_fast_acc_question q = {
		.prefix = {.kind = RDMA_FAST_QUESTION, .id = number},
		.rank = (uint32_t)a->rank, .op = RDMA_FAST_ACC, .type = (uint8_t)a->type,
		.levels = (uint16_t)a->levels, .to = a->to};
	size_t levels = (size_t)a->levels;
	memcpy(q.scale, a->scale, k_type_size(a->type));
	memcpy(q.shape, a->count, (levels + 1) * sizeof(int));
	if (levels > 0)
		memcpy(q.shape + levels + 1, a->stride, levels * sizeof(int));
	memcpy(m->at, &q, m->head);
	k_cursor_pack(&a->from, NULL, m->at + m->head, (int64_t)a->bytes);
}

static bool ask(struct fast_acc *a, const struct rdma_fast_peer *to)
{
	struct message m;
	if (!prepare(&m, a, to))
		return false;
	encode(&m, a);
	struct rdma_fast_question_bytes q = {.slot = m.slot, .flags = m.in_line ? VB_INLINE : 0,
		.data = {.addr = (uintptr_t)m.at, .length = m.bytes,
			.lkey = rdma_fast.buffers.lkey}};
	if (!rdma_fast_ask(to, m.request, NULL, &q))
		return false;
	rdma_fast_abandon(m.request);
	rdma_fast_count_store(&(struct fast_transfer){.rank = a->rank, .at = a->at, .all = a->all});
	return true;
}

enum fast_result rdma_fast_accumulate(struct fast_acc *a)
{
	if (!rdma_fast_enter())
		return FAST_DECLINED;
	const struct rdma_fast_peer *to = rdma_fast_peer_of(a->rank);
	bool ok = to && known(a) && ask(a, to);
	rdma_fast_leave();
	return ok ? FAST_DONE : FAST_DECLINED;
}
