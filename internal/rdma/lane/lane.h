// SPDX-License-Identifier: BSD-3-Clause
// lane.h - the short way of an RDMA transport: small blocking puts and gets that C posts and waits for itself, on the
// queue pairs that Go has connected, since Go's part of a transfer takes longer than the network's. There is one lane
// in a process. It is taken only while Go is not at the queues; whatever is not plain (an error, a completion that is
// not the lane's, a wait that takes long) is left to Go.
#ifndef ARMCI_LANE_H
#define ARMCI_LANE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../verbs/verbs.h"

#define LANE_BYTES 256u             // the longest transfer
#define LANE_DEPTH 16u              // puts that may be open
#define LANE_WAYS  64u              // regions that are remembered
#define LANE_PUT   ((uint64_t)1 << 62) // the number of a put, which no other request has
#define LANE_GET   (LANE_PUT | 1)   // of the get

enum lane_get { LANE_IDLE, LANE_ASKED, LANE_HERE, LANE_FAILED };
enum lane_result { LANE_DECLINED, LANE_DONE, LANE_OPEN }; // OPEN: a get that has been posted; Go has to wait for it

// Memory of a rank that can be reached. rank is -1 where there is none.
struct lane_way {
	int rank;
	uint32_t rkey;
	uintptr_t lo, bytes;
	struct vb_qp *pair;
};

// Stores at a rank, or at all: none is outstanding while both are equal. As core.Traffic has it.
struct lane_traffic {
	_Atomic uint32_t posted, fenced;
};

// The last stores at a rank, or at all, if all of them were the lane's: numbers lo to hi of its traffic.
struct lane_run {
	int rank;
	uint32_t lo, hi;
};

struct lane {
	_Atomic uint32_t held; // C is at the queues
	_Atomic uint32_t busy; // so many of Go are, or want to be
	_Atomic uint32_t pending; // puts that are open
	_Atomic uint32_t get;     // enum lane_get
	_Atomic uint32_t stashed; // stash is a completion for Go
	struct vb_wc stash;
	// Changed by Go while C is not at the queues.
	_Atomic uint32_t open;
	struct vb_cq *queue;
	struct vb_channel *channel; // of the queue, if waits sleep instead of looking, else NULL
	uintptr_t room; // LANE_BYTES of registered memory, for gets
	uint32_t lkey;
	uint32_t longest; // put
	struct lane_way ways[LANE_WAYS];
	struct lane_run runs[LANE_WAYS], all;
};
extern struct lane lane;

// Puts n bytes, which are the caller's again, and counts the store. Or declines, and nothing has happened.
enum lane_result lane_put(int rank, const void *local, uintptr_t remote, uint64_t n, struct lane_traffic *of,
	struct lane_traffic *all);
// Gets n bytes. OPEN: call Go, which waits, then lane_collect.
enum lane_result lane_get(int rank, void *local, uintptr_t remote, uint64_t n);
void lane_collect(void *local, uint64_t n);
// True if all stores at the rank have taken effect, as is noted then.
bool lane_fence(int rank, struct lane_traffic *of);
bool lane_fence_all(struct lane_traffic *all);

#endif
