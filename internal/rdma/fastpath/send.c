// SPDX-License-Identifier: BSD-3-Clause
// Two-sided messages that are short enough for one message of the network: by a question to the
// rank's data server, which delivers them. The answer says that another one may be sent.
#include "questions.h"

#include <string.h>

#include "../../kernel/kernel.h"

_Static_assert(sizeof(struct rdma_fast_send_question) == sizeof(struct rdma_fast_question), "");

// Posts the question. False: C cannot post it, or not soon.
static bool post_send(const struct fast_send *s, const struct rdma_fast_peer *to)
{
	struct rdma_fast_long_question m;
	struct rdma_fast_send_question q = {.rank = (uint32_t)s->rank, .op = RDMA_FAST_SEND,
		.from = (uint32_t)s->from, .tag = s->tag};
	m.bytes = (uint32_t)(sizeof q + s->bytes);
	if (!rdma_fast_prepare_long_question(&m, to, RDMA_FAST_MOST_SENDS)) {
		if (rdma_fast_long_question_fits(&m, to)) // it takes long: later ones are Go's
			atomic_store(rdma_fast_peer_behind(s->rank), true);
		return false;
	}
	q.prefix = rdma_fast_question_prefix(&m);
	memcpy(m.at, &q, sizeof q);
	k_copy(m.at + sizeof q, s->data, s->bytes);
	return rdma_fast_post_long_question(&m, to, false);
}

enum fast_result rdma_fast_send(const struct fast_send *s)
{
	if (s->bytes > rdma_fast.buffer_bytes || !rdma_fast_acquire_queues())
		return FAST_DECLINED;
	const struct rdma_fast_peer *to = rdma_fast_find_peer(s->rank);
	bool ok = to && !atomic_load(rdma_fast_peer_behind(s->rank)) && post_send(s, to);
	rdma_fast_release_queues();
	return ok ? FAST_DONE : FAST_DECLINED;
}
