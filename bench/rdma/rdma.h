// SPDX-License-Identifier: BSD-3-Clause
// What the measurements over RDMA share: a connection by bare verbs between rank 0 and its peer,
// requests on it, and contests of settings. What is measured is in the other files.
#ifndef PERF_RDMA_H
#define PERF_RDMA_H

#include "bench.h"
#include "link.h"

// The raw side of rank 0 and its peer; the others have none.
struct rdma {
	struct link link;
	bool open;
	struct ibv_send_wr request; // of the raw loop
	struct ibv_sge list;
};
extern struct rdma rdma;

// What the raw loop does: one request after the other of so many bytes.
void rdma_request(enum ibv_wr_opcode opcode, size_t bytes);
void rdma_raw(void *arg, long n);

// A message and its answer: by rank 0 and its peer, and, as bench_verbs_baseline, for what goes by
// the data server.
void rdma_echo_ready(void);
void rdma_echo_end(void);
bool rdma_echo_baseline(struct perf_case *c);

// Writes there and back, as the baseline of what tells that data has arrived; for whatever else it
// returns false.
bool rdma_trips_baseline(struct perf_case *c);

// A way to do something: by a rank of the first node, in a loop.
struct rdma_way {
	const char *name;
	int rank;
	perf_body body;
	void *arg;
	double *clock; // NULL, or where the body adds the seconds that count
	long n;        // operations of a sample; 0: not known yet
};
enum { RDMA_WAYS = 16 };
// Measures the ways by turns in each repetition, the order moving on, by samples that take so long,
// in the unit of the case; figures are on all ranks. If `served` is not NULL, the peer serves it by
// hand meanwhile. Collective.
void rdma_turns(const struct perf_case *c, struct rdma_way *w, int n, double seconds,
	double figure[][TIMING_REPS_MAX], struct perf_transfer *served);

// An operation by each of the settings, another way to do it (NULL: none) and the raw loop, in
// turns. Its figures:
//   op/SETTING, op/packed, op/by-hand  beside the raw loop
//   op/auto:best                       the first setting beside the best of the others
//   op/auto:packed, op/auto:by-hand    the first setting beside the other ways
// Collective.
struct rdma_contest {
	struct perf_case c; // its op is the name's beginning, `ours` the operation
	perf_body packed, by_hand;
	const char *without; // a setting that takes no part, or NULL
};
void rdma_contest(const struct rdma_contest *k);

// A patch moved by the programs at both ends over bare verbs: packed, written as one piece,
// unpacked, and answered. The serving rank sleeps between requests, until rank 0 says that the
// measurement is over.
void rdma_put_by_hand(void *arg, long n);
void rdma_get_by_hand(void *arg, long n);
void rdma_serve_by_hand(struct perf_transfer *t);
void rdma_end_by_hand(void);

#endif
