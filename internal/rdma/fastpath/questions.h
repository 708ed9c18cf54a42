// SPDX-License-Identifier: BSD-3-Clause
// questions.h - what C asks a rank's data server for (words.c, acc.c, send.c): the messages, and
// how they are asked (questions.c). A question is followed by its answer on the same connection.
#ifndef ARMCI_RDMA_QUESTIONS_H
#define ARMCI_RDMA_QUESTIONS_H

#include "fastpath.h"

/* as they travel (docs/wire.md) ---------------------------------------------------------------- */

// What begins a message, and is followed by a question, or its answer, where it is not a frame of
// Go's. id is that of the question.
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
// Where the data begins.
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
	uint64_t declined; // the word is as it was; or the message waits behind others
};

/* asking; the caller has the queues, except for the three functions of the table -------------- */

enum fast_result rdma_fast_change(struct fast_change *c);
enum fast_result rdma_fast_accumulate(struct fast_acc *a);
enum fast_result rdma_fast_send(const struct fast_send *s);
const struct rdma_fast_peer *rdma_fast_peer_of(int rank);
// A question as it travels: inline, or from the slot's buffer.
struct rdma_fast_question_bytes {
	struct vb_sge data;
	int slot, flags;
	bool stores; // what is posted to the rank's memory later must not overtake it
};
// Asks under a request, for a change or, where that is NULL, for what no caller waits for. False:
// the network has refused it.
bool rdma_fast_ask(const struct rdma_fast_peer *to, int request, struct fast_change *c,
	const struct rdma_fast_question_bytes *q);
// Waits until stores that were asked for at a rank have taken effect: what is posted next must not
// overtake them. False: it takes long.
bool rdma_fast_await_stores(int rank);
// Waits until fewer questions than this, for which no caller waits, are not answered.
enum { RDMA_FAST_MOST_STORES = 8, RDMA_FAST_MOST_SENDS = 6 }; // each has a buffer of the target
bool rdma_fast_await_few(int32_t most);
static inline _Atomic bool *rdma_fast_behind(int rank)
{
	return &rdma_fast.behind[(unsigned)rank % RDMA_FAST_PEERS];
}
// A question of up to a buffer's length for which no caller waits, and where it is.
struct rdma_fast_long_question {
	int request, slot;
	bool in_line;
	uint32_t bytes;
	char *at;
	char line[FAST_BYTES];
};
// Whether it is short enough, once rdma_fast_prepare has been called.
bool rdma_fast_fits(const struct rdma_fast_long_question *q, const struct rdma_fast_peer *to);
// Finds room for one of q->bytes bytes, where fewer than `most` are not answered. False: C cannot
// ask that, or not soon.
bool rdma_fast_prepare(struct rdma_fast_long_question *q, const struct rdma_fast_peer *to,
	int32_t most);
struct rdma_fast_prefix rdma_fast_prefix_of(const struct rdma_fast_long_question *q);
bool rdma_fast_ask_long(const struct rdma_fast_long_question *q, const struct rdma_fast_peer *to,
	bool stores);
// The receive buffer, of so many bytes, that a completion is about.
static inline struct vb_sge rdma_fast_buffer_of(const struct rdma_fast_local *all, uint32_t bytes,
	uint64_t id)
{
	return (struct vb_sge){.addr = all->lo + (id & ~RDMA_FAST_RECEIVED) * bytes,
		.length = bytes, .lkey = all->lkey};
}
// Takes the answer to a question of C's, and offers its buffer again. False: it is Go's.
bool rdma_fast_take_answer(const struct vb_wc *done);
// Handles a message that has come if it is an answer; the caller offers its buffer again.
bool rdma_fast_receive(uint32_t pair, const void *message, uint32_t n);
void rdma_fast_fail_asked(const void *pair);
bool rdma_fast_has_asked(const void *pair);
bool rdma_fast_asked_store(const void *pair); // has it asked for a store

#endif
