// SPDX-License-Identifier: BSD-3-Clause answers.h - the data server's half of questions.c: C
// answers a question as soon as it polls it from the server's completion queue. Questions that C
// cannot carry out, and those behind a message that Go has not handled yet, are left to Go. Only
// the poller calls these functions.
#ifndef ARMCI_RDMA_ANSWERS_H
#define ARMCI_RDMA_ANSWERS_H

#include "questions.h"

#define RDMA_ANSWERS_PEERS 256u // origins that C answers

// An origin's queue pair. pair is NULL in an empty entry.
struct rdma_answers_peer {
	void *pair;
	uint32_t number;      // of the pair
	uint32_t outstanding; // answers in flight
	bool blocked;         // Go has to handle an earlier message first
};

struct rdma_answers {
	const struct qp_network *network;
	void *queue, *receive;
	struct rdma_fast_local incoming; // buffers of incoming_bytes each
	uint32_t incoming_bytes;
	uint32_t most, most_each;      // answers that may be in flight, in all and to one origin
	uint32_t outstanding;
	uint32_t answered; // so far
	uint32_t needed;   // of these, all but messages for rank me, which polls for itself
	uint32_t me;
	uint32_t failed;   // the number of a pair that takes no answer; 0: none
	struct rdma_answers_peer peers[RDMA_ANSWERS_PEERS];
};

// Decodes a message if it is an accumulate; false if it is none, or malformed. The result points
// into the message, which is aligned.
bool rdma_fast_decode_acc(struct fast_acc *a, const void *message, uint32_t n);

// The same for a two-sided message.
bool rdma_fast_decode_send(struct fast_send *s, const void *message, uint32_t n);

// Polls for completions as the network's look does, and answers what it can. Returns how many are
// left for Go, in front; negative: an error.
int rdma_answers_poll(struct rdma_answers *a, int n, struct vb_wc *out, unsigned looks,
	unsigned yields);
// Answers what it can of n completions. Returns how many are left for Go, in front.
int rdma_answers_filter(struct rdma_answers *a, int n, struct vb_wc *out);
// Has C answer an origin; and suspends that while blocked.
void rdma_answers_add_peer(struct rdma_answers *a, void *pair, uint32_t number);
void rdma_answers_block_peer(struct rdma_answers *a, uint32_t number, bool blocked);
// Forgets an origin, whose queue pair has been destroyed.
void rdma_answers_drop_peer(struct rdma_answers *a, uint32_t number);

#endif
