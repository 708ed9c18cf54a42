// SPDX-License-Identifier: BSD-3-Clause
// qp.h - queue pairs as C calls them: what the C fast path (rdma/fastpath) needs of a network.
// Package rdma/verbs has it for a device, package ofi/fast for a provider of libfabric. Requests,
// data and completions are those of qp.go, which have the layout of package verbs.
#ifndef ARMCI_QP_H
#define ARMCI_QP_H

#include <stdbool.h>
#include <stdint.h>

struct vb_request;
struct vb_sge;
struct vb_wc;

#define QP_REQUESTS 64u // that C may have outstanding: their numbers differ modulo that

struct qp_network {
	// Posts requests with their data, in their order. An error: posted says how many were
	// taken; -EAGAIN: there may be room when completions have been taken.
	int (*post)(void *pair, const struct vb_request *r, int n, struct vb_sge *data,
		int *posted);
	// Takes up to n completions, also of Go's requests. Looks for the first one so many times,
	// then so many times more with a yield before each. Negative: an error.
	int (*look)(void *queue, int n, struct vb_wc *out, unsigned looks, unsigned yields);
	// The same, asleep for so many nanoseconds if there is none. NULL: C does not sleep.
	int (*sleep)(void *queue, void *channel, int n, struct vb_wc *out, int64_t limit);
	// Offers a receive buffer. NULL: C receives nothing.
	int (*offer)(void *receive, uint64_t id, struct vb_sge *data);
	// C leaves the queue to itself, perhaps while requests of its are outstanding. NULL: then
	// there is nothing to do.
	void (*left)(void *queue, bool outstanding);
	uint32_t (*number)(const void *pair); // of the queue pair
	bool chains; // post takes several requests, or none of them unless the pair is broken
};

#endif
