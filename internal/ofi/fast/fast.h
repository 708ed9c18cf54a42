// SPDX-License-Identifier: BSD-3-Clause
// fast.h - what the C fast path (rdma/qp/qp.h) and Go share of a queue and of its queue pairs over
// libfabric. Where the provider does not keep an order, either side waits for the other's writes.
#ifndef ARMCI_OFI_FAST_H
#define ARMCI_OFI_FAST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../rdma/qp/qp.h"
#include "../../rdma/verbs/verbs.h"
#include "../libfabric/libfabric.h"

// The goroutine that drives the provider while no thread calls it (progress.go).
struct ofi_progress {
	_Atomic uint32_t needed; // it runs, or has been woken
	int bell;                // an eventfd that wakes it; -1: the provider works by itself
};

enum { OFI_LEFT = 64 };

struct ofi_queue {
	struct lf_endpoint ep;
	uint64_t told; // flags of writes
	bool write_write, write_read; // the order that the provider keeps
	struct ofi_progress *progress;
	_Atomic uint32_t requests; // of C's that the provider has
	_Atomic uint32_t over; // requests of C's that Go has found complete
	// completions of Go's requests that C has found, for the next thread in Go that polls
	_Atomic uint32_t locked, left;
	struct lf_done found[OFI_LEFT];
};

struct ofi_pair {
	struct ofi_queue *queue;
	uint64_t to;
	uint32_t number;
	_Atomic uint32_t blocked;    // requests of Go's wait to be posted, or the pair is closed
	_Atomic uint32_t gos_writes; // writes of Go's that the provider has
	_Atomic uint32_t requests, writes; // of C's that the provider has
	_Atomic uint32_t news;             // grows with C's completions
	_Atomic uint32_t failed;           // the error of C's first request that failed, or 0
};

#pragma GCC visibility push(hidden)

extern const struct qp_network ofi_network;

// Records that a request has been completed, and why it failed: false if it is not C's. Any thread.
bool ofi_completed(uintptr_t context, int64_t err);
// Takes the requests that were recorded so, as completions. Only the thread that polls calls it.
int ofi_take_over(struct ofi_queue *q, int n, struct vb_wc *out);

// Takes completions of Go's requests that C has found. Any thread.
int ofi_take_left(struct ofi_queue *q, int n, struct lf_done *out);

#pragma GCC visibility pop

#endif
