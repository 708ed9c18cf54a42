// SPDX-License-Identifier: BSD-3-Clause
// qp.h - the functions that the C fast path (rdma/fastpath) needs of a network. Package rdma/verbs
// implements them for a device, package ofi/fast for a provider of libfabric. Requests,
// data and completions are those of qp.go, which have the layout of package verbs.
#ifndef ARMCI_QP_H
#define ARMCI_QP_H

#include <stdbool.h>
#include <stdint.h>

struct vb_request;
struct vb_sge;
struct vb_wc;

#define QP_REQUESTS 64u // that C may have in flight: their ids differ modulo that

struct qp_network {
	// Posts requests with their data, in this order. After an error *posted is how many were
	// posted; -EAGAIN: there may be room when completions have been taken.
	int (*post)(void *pair, const struct vb_request *r, int n, struct vb_sge *data,
		int *posted);
	// Takes up to n completions, also of Go's requests. Polls for the first one up to looks
	// times, then up to yields times with a yield before each. Negative: an error.
	int (*look)(void *queue, int n, struct vb_wc *out, unsigned looks, unsigned yields);
	// The same, but sleeps for up to limit nanoseconds if there is none. NULL: C does not
	// sleep.
	int (*sleep)(void *queue, void *channel, int n, struct vb_wc *out, int64_t limit);
	// Posts a receive buffer. NULL: C receives nothing.
	int (*offer)(void *receive, uint64_t id, struct vb_sge *data);
	// Is called when C releases the queue; outstanding: C has requests in flight. NULL: the
	// network needs no such call.
	void (*left)(void *queue, bool outstanding);
	uint32_t (*number)(const void *pair); // of the queue pair
	bool chains; // post takes several requests, or none of them unless the pair is broken
};

#endif
