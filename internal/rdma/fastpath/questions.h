// SPDX-License-Identifier: BSD-3-Clause questions.h - questions: requests of an origin's C to a
// rank's data server (words.c, acc.c, send.c). The messages, and how they are posted (questions.c).
// The answer comes on the same connection.
#ifndef ARMCI_RDMA_QUESTIONS_H
#define ARMCI_RDMA_QUESTIONS_H

#include "fastpath.h"

/* the messages (docs/wire.md) ------------------------------------------------------------------ */

// The prefix of a message. Unless it is one of a frame of Go's, a question or its answer follows.
// id is that of the question.
enum rdma_fast_kind { RDMA_FAST_FRAME, RDMA_FAST_QUESTION, RDMA_FAST_ANSWER };
struct rdma_fast_prefix {
	uint16_t head;
	uint8_t kind, zero;
	uint32_t slot;
	uint64_t id;
};
struct rdma_fast_question {
	struct rdma_fast_prefix prefix;
	uint32_t rank;
	uint8_t op, bytes;
	uint16_t zero;
	uint64_t word, operand, compare;
};
// An accumulate: the shape is its counts, then its strides; then zeros up to a multiple of 8, and
// the data. Where it is small the rest of the struct does not travel.
enum { RDMA_FAST_ACC = 16 }; // op; those of words are less
struct rdma_fast_acc_question {
	struct rdma_fast_prefix prefix;
	uint32_t rank;
	uint8_t op, type;
	uint16_t levels;
	uint64_t to;
	uint8_t scale[16];
	int32_t shape[2 * K_MAX_LEVELS + 1];
};
// Offset of the data.
static inline uint32_t rdma_fast_acc_head(int levels)
{
	uint32_t shape = (2 * (uint32_t)levels + 1) * 4;
	return (offsetof(struct rdma_fast_acc_question, shape) + shape + 7) & ~7u;
}

// A two-sided message; the data is behind it. It is as long as a question about a word.
enum { RDMA_FAST_SEND = 17 }; // op
struct rdma_fast_send_question {
	struct rdma_fast_prefix prefix;
	uint32_t rank;
	uint8_t op, zero[3];
	uint32_t from, zeros[3];
	int64_t tag;
};
struct rdma_fast_answer {
	struct rdma_fast_prefix prefix;
	uint64_t old;
	uint64_t declined; // not 0: the word is unchanged, or the message is queued behind others
};

/* posting; callers hold the queues, except those of the three functions of the table ----------- */

enum fast_result rdma_fast_change(struct fast_change *c);
enum fast_result rdma_fast_accumulate(struct fast_acc *a);
enum fast_result rdma_fast_send(const struct fast_send *s);
const struct rdma_fast_peer *rdma_fast_find_peer(int rank);
// The bytes of a question: inline, or in the slot's buffer.
struct rdma_fast_question_bytes {
	struct vb_sge data;
	int slot, flags;
	bool stores; // it stores: later requests to the rank's memory wait for the answer
};
// Posts a question under a request. Its result goes to c; where that is NULL no caller waits for
// it. False: the network has refused it.
bool rdma_fast_post_question(const struct rdma_fast_peer *to, int request, struct fast_change *c,
	const struct rdma_fast_question_bytes *q);
// Waits until questions that store at a rank are answered: a request that is posted next must not
// overtake them. False: it takes long.
bool rdma_fast_await_stores(int rank);
// Waits until fewer than `most` questions for which no caller waits are unanswered. False: it takes
// long.
enum { RDMA_FAST_MOST_STORES = 8, RDMA_FAST_MOST_SENDS = 6 }; // each has a buffer of the target
bool rdma_fast_await_few_questions(int32_t most);
static inline _Atomic bool *rdma_fast_peer_behind(int rank)
{
	return &rdma_fast.peer_behind[(unsigned)rank % RDMA_FAST_PEERS];
}
// A question of up to a buffer's length for which no caller waits. at points to its bytes: line, or
// the slot's buffer.
struct rdma_fast_long_question {
	int request, slot;
	bool in_line;
	uint32_t bytes;
	char *at;
	char line[FAST_BYTES];
};
// Whether it is short enough. rdma_fast_prepare_long_question has been called.
bool rdma_fast_long_question_fits(const struct rdma_fast_long_question *q,
	const struct rdma_fast_peer *to);
// Takes request, slot and buffer for a question of q->bytes bytes, when fewer than `most` are
// unanswered. The caller fills q->at and posts it. False: C cannot post it, or not soon.
bool rdma_fast_prepare_long_question(struct rdma_fast_long_question *q,
	const struct rdma_fast_peer *to, int32_t most);
struct rdma_fast_prefix rdma_fast_question_prefix(const struct rdma_fast_long_question *q);
bool rdma_fast_post_long_question(const struct rdma_fast_long_question *q,
	const struct rdma_fast_peer *to, bool stores);
// The receive buffer of a completion with this id.
static inline struct vb_sge rdma_fast_receive_buffer(const struct rdma_fast_local *all,
	uint32_t bytes, uint64_t id)
{
	return (struct vb_sge){.addr = all->lo + (id & ~RDMA_FAST_RECEIVED) * bytes,
		.length = bytes, .lkey = all->lkey};
}
// Handles a received message if it is an answer, and posts its buffer again. False: it is Go's.
bool rdma_fast_handle_answer(const struct vb_wc *done);
// Handles a received message if it is an answer; the caller posts its buffer again. False: it is
// none.
bool rdma_fast_handle_message(uint32_t pair, const void *message, uint32_t n);
// Of the unanswered questions on a queue pair: fails them; whether there are any; whether one
// stores.
void rdma_fast_fail_questions(const void *pair);
bool rdma_fast_has_questions(const void *pair);
bool rdma_fast_has_store_questions(const void *pair);

#endif
