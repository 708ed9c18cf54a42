// SPDX-License-Identifier: BSD-3-Clause
// What the files of bench/ add to the worker of armci_perf: where baselines come from. A baseline
// does what an operation must do at least, without the library: in memory of a node that all share,
// over a raw socket, over raw verbs or libfabric.
#ifndef BENCH_H
#define BENCH_H

#include "perf.h"

enum { BENCH_MOST = 16 << 20 }; // bytes that a baseline moves at a time

// The raw baselines that operations are held against: on a node, over TCP, over RDMA, over
// libfabric, or none. A worker with an MPI has none, except the papers'.
enum bench_kind { BENCH_NODE, BENCH_SOCKET, BENCH_VERBS, BENCH_OFI, BENCH_NONE };
enum bench_kind bench_raw(void);

// ready and end are collective; baseline is as perf_baseline of perf.h.
void bench_node_ready(void);
bool bench_node_baseline(struct perf_case *c, int k);
void bench_node_end(void);

void bench_socket_ready(void);
bool bench_socket_baseline(struct perf_case *c, int k);
void bench_socket_overlap(struct perf_overlap *o);
void bench_socket_end(void);
// n requests one after the other, each with other memory, `step` bytes further; by rank 0. The
// seconds that they take.
double bench_socket_moving(size_t out, size_t back, size_t step, long n);

void bench_verbs_ready(void);
bool bench_verbs_baseline(struct perf_case *c, int k);
void bench_verbs_overlap(struct perf_overlap *o);
void bench_verbs_end(void);

void bench_ofi_ready(void);
bool bench_ofi_baseline(struct perf_case *c, int k);
void bench_ofi_end(void);

// Of an MPI, on a node and between nodes: one at most for an operation. It renames the case to
// OP/mpi if the row of a raw baseline has the name OP.
bool bench_mpi_baseline(struct perf_case *c);

extern const struct perf_group bench_papers[]; // groups of the worker of the papers

bool bench_asleep(void); // the job is set to sleep: its label is /asleep

// A barrier between all ranks of a node, in memory that they share: sense-reversing, polls, then
// yields.
#define BENCH_LINE 64
struct bench_barrier {
	_Alignas(BENCH_LINE) _Atomic int arrived;
	_Alignas(BENCH_LINE) _Atomic int sense;
};
struct bench_gate {
	struct bench_barrier *shared;
	int sense;
};
void bench_gate_pass(struct bench_gate *g);
struct bench_gate *bench_gate(void); // the one of all ranks; on a node only

// Adds n numbers, vectorised, without a lock.
void bench_add(double *to, const double *from, long n);

// Waits a moment, the longer the oftener it is called.
void bench_wait(int times);

// The compiler must not move memory accesses across, nor know where p points.
static inline void bench_opaque(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

// Settings in which the ranks of a node differ, by turns (-e), and how many.
extern const char *bench_settings[];
extern int bench_variants;

#endif
