// SPDX-License-Identifier: BSD-3-Clause
// fastpath.h - the C fast path of RDMA (transport/fast.h): C posts small blocking puts and gets on the queue pairs that
// Go has connected and polls for their completion, since Go's part of a transfer takes longer than the network's. There
// is one fast path in a process. It is taken only while Go does not use the queues. Completions of Go's requests are put
// aside for Go. An error, a wait that takes long: that is left to Go.
#ifndef ARMCI_RDMA_FASTPATH_H
#define ARMCI_RDMA_FASTPATH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../transport/fast.h"
#include "../verbs/verbs.h"

#define RDMA_FAST_DEPTH  16u                 // puts that may be outstanding
#define RDMA_FAST_RANGES 64u                 // ranges of remote memory that are cached
#define RDMA_FAST_WAYS   2u                  // of them in a place that addresses share
#define RDMA_FAST_STASH  32u                 // completions that are put aside before Go has to look
#define RDMA_FAST_PUT    ((uint64_t)1 << 62) // id of a put's work request; no other request has it
#define RDMA_FAST_GET    (RDMA_FAST_PUT | 1) // id of the get's

enum rdma_fast_get { RDMA_FAST_IDLE, RDMA_FAST_ASKED, RDMA_FAST_HERE, RDMA_FAST_FAILED };

// Memory of a rank and the key and queue pair that reach it. rank is -1 in an empty entry.
struct rdma_fast_range {
	int rank;
	uint32_t rkey;
	uintptr_t lo, bytes;
	struct vb_qp *pair;
};

// The latest stores at a rank, or at all ranks, as far as they were all posted here: numbers lo to hi of its counter.
struct rdma_fast_run {
	int rank;
	uint32_t lo, hi;
};

struct rdma_fast {
	_Atomic uint32_t held;    // C uses the queues
	_Atomic uint32_t busy;    // number of Go's users of the queues, waiting ones included
	_Atomic uint32_t pending; // puts outstanding
	_Atomic uint32_t get;     // enum rdma_fast_get
	_Atomic uint32_t stashed; // completions in stash, for Go
	_Atomic uint32_t look;    // Go has to look at them before C goes on: one is an error, or there is no room
	struct vb_wc stash[RDMA_FAST_STASH];
	// Changed by Go while C does not use the queues.
	_Atomic uint32_t open;
	struct vb_cq *queue;
	struct vb_channel *channel; // the queue's, if waits sleep instead of polling, else NULL
	uintptr_t buffer;           // FAST_BYTES of registered memory, for gets
	uint32_t lkey;
	uint32_t longest; // put
	struct rdma_fast_range ranges[RDMA_FAST_RANGES];
	struct rdma_fast_run runs[RDMA_FAST_RANGES], all;
};
extern struct rdma_fast rdma_fast;

// Where ranges around an address of a rank are: the first of RDMA_FAST_WAYS.
static inline struct rdma_fast_range *rdma_fast_place(int rank, uintptr_t addr)
{
	return &rdma_fast.ranges[(((unsigned)rank ^ (unsigned)(addr >> 22)) * RDMA_FAST_WAYS) % RDMA_FAST_RANGES];
}

void rdma_fast_publish(bool open); // makes the table of functions the process's, or takes it back

#endif
