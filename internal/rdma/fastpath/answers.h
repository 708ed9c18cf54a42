// SPDX-License-Identifier: BSD-3-Clause
// answers.h - the data server's half of questions.c: what C answers as soon as it finds it in the
// server's completion queue. Questions that are not plain, and those behind something that Go has
// not handled yet, are Go's. All functions are the poller's.
#ifndef ARMCI_RDMA_ANSWERS_H
#define ARMCI_RDMA_ANSWERS_H

#include "questions.h"

#define RDMA_ANSWERS_PEERS 256u // origins that C answers

// An origin's queue pair. pair is NULL in an empty entry.
struct rdma_answers_peer {
	void *pair;
	uint32_t number;      // of the pair
	uint32_t outstanding; // answers that have not left
	bool blocked;         // Go has something to do before
};

struct rdma_answers {
	const struct qp_network *network;
	void *queue, *receive;
	struct rdma_fast_local incoming; // buffers of incoming_bytes each
	uint32_t incoming_bytes;
	uint32_t most, most_each;      // answers that may be outstanding, in all and at an origin
	uint32_t outstanding;
	uint32_t answered; // so far
	uint32_t needed;   // of these, all but messages for rank me, which receives by itself
	uint32_t me;
	uint32_t failed;   // the number of a pair that takes no answer; 0: none
	struct rdma_answers_peer peers[RDMA_ANSWERS_PEERS];
};

// Decodes a message if it is an accumulate. What it points to is in the message, which is aligned.
bool rdma_fast_as_acc(struct fast_acc *a, const void *message, uint32_t n);

// The same for a two-sided message.
bool rdma_fast_as_send(struct fast_send *s, const void *message, uint32_t n);

// Looks for completions as the network's look does, and answers what it can: how many are left.
int rdma_answers_look(struct rdma_answers *a, int n, struct vb_wc *out, unsigned looks,
	unsigned yields);
// Answers what it can of n completions: how many are left, in front.
int rdma_answers_take(struct rdma_answers *a, int n, struct vb_wc *out);
// Has C answer an origin; blocked: until that is false.
void rdma_answers_add(struct rdma_answers *a, void *pair, uint32_t number);
void rdma_answers_block(struct rdma_answers *a, uint32_t number, bool blocked);
// The pair is gone: nothing of it completes any more.
void rdma_answers_drop(struct rdma_answers *a, uint32_t number);

#endif
