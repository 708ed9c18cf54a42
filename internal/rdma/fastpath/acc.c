// SPDX-License-Identifier: BSD-3-Clause
// Accumulates that are short enough for one message: by a question to the rank's data server, as a
// read-modify-write (words.c), but no caller waits for the answer. The answer says that the store
// has taken effect. Until then nothing else is posted to that memory, since a device would overtake
// the data server.
#include "questions.h"

#include <string.h>

// Whether the remote side is dense and in an allocation to which C may accumulate.
static bool in_known_span(const struct fast_acc *a)
{
	int64_t lo, hi;
	if (k_extent(a->stride, a->count, a->levels, &lo, &hi) != (int64_t)a->bytes)
		return false;
	uintptr_t first = a->to + (uintptr_t)lo, end = a->to + (uintptr_t)hi;
	const struct rdma_fast_span *s = rdma_fast_span_entry(a->rank, a->to);
	return s->rank == a->rank && first >= s->lo && first < end && end <= s->hi;
}

// Encodes question and data into m->at.
static void encode_acc(const struct rdma_fast_long_question *m, struct fast_acc *a)
{
	struct rdma_fast_acc_question q = {.prefix = rdma_fast_question_prefix(m),
		.rank = (uint32_t)a->rank, .op = RDMA_FAST_ACC, .type = (uint8_t)a->type,
		.levels = (uint16_t)a->levels, .to = a->to};
	size_t levels = (size_t)a->levels;
	uint32_t head = rdma_fast_acc_head(a->levels);
	memcpy(q.scale, a->scale, k_type_size(a->type));
	memcpy(q.shape, a->count, (levels + 1) * sizeof(int));
	if (levels > 0)
		memcpy(q.shape + levels + 1, a->stride, levels * sizeof(int));
	memcpy(m->at, &q, head);
	k_cursor_pack(&a->from, NULL, m->at + head, (int64_t)a->bytes);
}

// Posts the question, and counts the store. False: C cannot post it, or not soon.
static bool post_acc(struct fast_acc *a, const struct rdma_fast_peer *to)
{
	struct rdma_fast_long_question m;
	m.bytes = rdma_fast_acc_head(a->levels) + (uint32_t)a->bytes;
	if (!rdma_fast_prepare_long_question(&m, to, RDMA_FAST_MOST_STORES))
		return false;
	encode_acc(&m, a);
	if (!rdma_fast_post_long_question(&m, to, true))
		return false;
	rdma_fast_count_store(&(struct fast_transfer){.rank = a->rank, .at = a->at, .all = a->all});
	return true;
}

enum fast_result rdma_fast_accumulate(struct fast_acc *a)
{
	if (!rdma_fast_acquire_queues())
		return FAST_DECLINED;
	const struct rdma_fast_peer *to = rdma_fast_find_peer(a->rank);
	bool ok = to && in_known_span(a) && post_acc(a, to);
	rdma_fast_release_queues();
	return ok ? FAST_DONE : FAST_DECLINED;
}
