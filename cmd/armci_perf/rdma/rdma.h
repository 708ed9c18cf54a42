// SPDX-License-Identifier: BSD-3-Clause
// What the measurements over RDMA share: operations on a rank of another node (remote.h), a connection by bare verbs
// between the same two processes, loops over requests on it, and contests of settings. What is measured is in the other
// files.
#ifndef PERF_RDMA_H
#define PERF_RDMA_H

#include "link.h"
#include "remote.h"

struct rdma {
	struct remote r;            // first: loops over operations of the library take it for one
	struct link link;           // of rank 0 and its peer
	char *slab;                 // my own memory that others reach
	struct ibv_send_wr request; // of the raw loop
	struct ibv_sge list;
};

// Collective. A rank's peer has its place on the other of two nodes; `bytes` of all[peer] are theirs.
void rdma_begin(struct rdma *d, void **all, size_t bytes);
void rdma_finish(struct rdma *d, void **all);

// What the raw loop does: one request after the other of so many bytes.
void rdma_request(struct rdma *d, enum ibv_wr_opcode opcode, size_t bytes);
void rdma_raw(void *arg, long n);

// An operation by each of the settings, another way to do it (NULL: none) and the raw loop, in turns. Its figures:
//   op/SETTING, op/packed, op/by-hand  beside the raw loop
//   op/auto:best                       the first setting beside the best of the others
//   op/auto:packed, op/auto:by-hand    the first setting beside the other ways
// Collective.
struct rdma_contest {
	struct perf_case c; // its op is the name's beginning
	void (*one)(struct remote *r);
	perf_body ours, packed, by_hand;
	const char *without; // a setting that takes no part, or NULL
};
void rdma_contest(struct rdma *d, const struct rdma_contest *k);

// A patch moved by the programs at both ends over bare verbs: packed, written as one piece, unpacked, and answered. Who
// serves sleeps until he is asked, and until rank 0 says that it is over.
void rdma_put_by_hand(void *arg, long n);
void rdma_get_by_hand(void *arg, long n);
void rdma_serve_by_hand(struct rdma *d);
void rdma_end_by_hand(struct rdma *d);

#endif
