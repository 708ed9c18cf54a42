// SPDX-License-Identifier: BSD-3-Clause Questions to the data servers of other nodes. C posts a
// question; the thread that polls its answer, of C or Go, handles that. A question has a request of
// its own, and is posted behind everything before. It does not count as a frame: its answer says
// that it has taken effect. Callers hold the queues.
#include "questions.h"

#include <string.h>

const struct rdma_fast_peer *rdma_fast_find_peer(int rank)
{
	struct rdma_fast_peer *p = &rdma_fast.peers[(unsigned)rank % RDMA_FAST_PEERS];
	return p->rank == rank ? p : NULL;
}

// Ends a question: its request is released, and counters are lowered. ok: a store took effect.
static void settle_question(int place, bool ok)
{
	struct rdma_fast_open_question *q = &rdma_fast.open_questions[place];
	q->pair = NULL;
	if (!q->change)
		atomic_fetch_sub(&rdma_fast.unanswered, 1);
	if (q->stores) {
		atomic_fetch_sub(&rdma_fast.unanswered_stores, 1);
		rdma_fast_end_store(q->rank, ok);
	}
	rdma_fast_release_request(place);
}

bool rdma_fast_post_question(const struct rdma_fast_peer *to, int request, struct fast_change *c,
	const struct rdma_fast_question_bytes *q)
{
	struct rdma_fast_range way = {.rank = to->rank, .pair = to->pair};
	struct rdma_fast_piece p = {.to = &way};
	rdma_fast_hold_request(request); // settle_question releases it
	rdma_fast.open_questions[request] =
		(struct rdma_fast_open_question){to->pair, c, q->stores, to->rank};
	if (!c)
		atomic_fetch_add(&rdma_fast.unanswered, 1);
	if (q->stores) {
		rdma_fast_begin_store();
		atomic_fetch_add(&rdma_fast.unanswered_stores, 1);
	}
	bool ok = rdma_fast_post_work(&p, q->slot, RDMA_FAST_NO_REQUEST, VB_WR_SEND, q->flags,
		q->data, 0);
	if (!ok)
		settle_question(request, true);
	return ok;
}

bool rdma_fast_long_question_fits(const struct rdma_fast_long_question *q,
	const struct rdma_fast_peer *to)
{
	return q->bytes <= to->max_message && (q->in_line || q->bytes <= rdma_fast.buffer_bytes);
}

bool rdma_fast_prepare_long_question(struct rdma_fast_long_question *q,
	const struct rdma_fast_peer *to, int32_t most)
{
	q->in_line = q->bytes <= rdma_fast_longest_inline();
	if (!rdma_fast_long_question_fits(q, to) || !rdma_fast_await_few_questions(most) ||
	    !(q->in_line ? rdma_fast_await_slots(1) : rdma_fast_await_buffer()))
		return false;
	q->request = rdma_fast_open_request(0);
	if (q->request == RDMA_FAST_NO_REQUEST)
		return false;
	q->slot = rdma_fast_take_slot(!q->in_line);
	q->at = q->in_line ? q->line : (char *)rdma_fast_slot_buffer((unsigned)q->slot);
	return true;
}

struct rdma_fast_prefix rdma_fast_question_prefix(const struct rdma_fast_long_question *q)
{
	return (struct rdma_fast_prefix){.kind = RDMA_FAST_QUESTION,
		.id = (uint32_t)rdma_fast_request_number(q->request)};
}

bool rdma_fast_post_long_question(const struct rdma_fast_long_question *q,
	const struct rdma_fast_peer *to, bool stores)
{
	struct rdma_fast_question_bytes bytes = {.slot = q->slot, .stores = stores,
		.flags = q->in_line ? VB_INLINE : 0,
		.data = {.addr = (uintptr_t)q->at, .length = q->bytes,
			.lkey = rdma_fast.buffers.lkey}};
	if (!rdma_fast_post_question(to, q->request, NULL, &bytes))
		return false;
	rdma_fast_abandon_request(q->request);
	return true;
}

bool rdma_fast_handle_message(uint32_t pair, const void *message, uint32_t n)
{
	struct rdma_fast_answer a;
	if (n != sizeof a)
		return false;
	memcpy(&a, message, sizeof a);
	if (a.prefix.kind != RDMA_FAST_ANSWER)
		return false;
	int32_t number = (int32_t)a.prefix.id;
	int place = (int)((uint32_t)number % RDMA_FAST_DEPTH);
	struct rdma_fast_open_question *q = &rdma_fast.open_questions[place];
	if (!rdma_fast_request_is_open(number) || !q->pair ||
	    rdma_fast.network->number(q->pair) != pair)
		return true; // its request has failed
	if (q->change) {
		q->change->old = a.old;
		q->change->declined = a.declined != 0;
	}
	if (a.declined && !q->change && !q->stores)
		atomic_store(rdma_fast_peer_behind(q->rank), true);
	settle_question(place, a.declined == 0);
	return true;
}

bool rdma_fast_handle_answer(const struct vb_wc *done)
{
	if (!(done->wr_id & RDMA_FAST_RECEIVED) || !rdma_fast.receive)
		return false;
	struct vb_sge buffer =
		rdma_fast_receive_buffer(&rdma_fast.incoming, rdma_fast.incoming_bytes,
			done->wr_id);
	return rdma_fast_handle_message(done->qp_num, (const void *)buffer.addr, done->byte_len) &&
	       rdma_fast.network->offer(rdma_fast.receive, done->wr_id, &buffer) == 0;
}

void rdma_fast_fail_questions(const void *pair)
{
	for (int i = 0; pair && i < (int)RDMA_FAST_DEPTH; i++)
		if (rdma_fast.open_questions[i].pair == pair) {
			rdma_fast_note_failure(i, rdma_fast.open_questions[i].rank);
			settle_question(i, false);
		}
}

bool rdma_fast_has_questions(const void *pair)
{
	for (unsigned i = 0; pair && i < RDMA_FAST_DEPTH; i++)
		if (rdma_fast.open_questions[i].pair == pair)
			return true;
	return false;
}

static uint32_t unanswered_stores(void)
{
	return atomic_load_explicit(&rdma_fast.unanswered_stores, memory_order_relaxed);
}

static bool no_stores_at(int32_t rank)
{
	for (unsigned i = 0; unanswered_stores() > 0 && i < RDMA_FAST_DEPTH; i++) {
		const struct rdma_fast_open_question *q = &rdma_fast.open_questions[i];
		if (q->pair && q->stores && q->rank == rank)
			return false;
	}
	return true;
}

bool rdma_fast_await_stores(int rank)
{
	return unanswered_stores() == 0 || rdma_fast_progress_until(no_stores_at, rank);
}

bool rdma_fast_has_store_questions(const void *pair)
{
	for (unsigned i = 0; pair && i < RDMA_FAST_DEPTH; i++)
		if (rdma_fast.open_questions[i].pair == pair && rdma_fast.open_questions[i].stores)
			return true;
	return false;
}

static bool few_unanswered(int32_t most)
{
	return atomic_load_explicit(&rdma_fast.unanswered, memory_order_relaxed) < (uint32_t)most;
}

bool rdma_fast_await_few_questions(int32_t most)
{
	return few_unanswered(most) || rdma_fast_progress_until(few_unanswered, most);
}
