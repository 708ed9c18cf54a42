// SPDX-License-Identifier: BSD-3-Clause
// What the files of the benchmark worker share: a case (our operation and its raw baseline, each as a loop), the two
// ways to measure one, and the lines the worker prints for armci_perf. It judges nothing: bars are the front's business.
#ifndef PERF_H
#define PERF_H

#include <armci.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_LINE 64
#define PERF_REPS_MAX 99

extern int perf_me, perf_n;  // rank and number of ranks
extern int perf_peer;        // the rank whose memory is used: the next one, myself when alone
extern const char *perf_settings[]; // the values of the setting in which ranks differ, by turns
extern int perf_variants;           // how many
extern bool perf_quick;      // short runs that only show that everything works
extern int perf_reps;        // repetitions of every figure, ours and raw alternating
extern double perf_init_seconds; // what the initialisation of the library took on this rank

// Does an operation n times.
typedef void (*perf_body)(void *arg, long n);

enum perf_unit {
	PERF_NS,   // nanoseconds of one operation
	PERF_MBS,  // 1e6 bytes per second
	PERF_MOPS, // 1e6 operations per second, all ranks together
	PERF_PERCENT,
	PERF_MIB,
	PERF_SHARE, // 1 = exactly the fair share
};

struct perf_case {
	const char *op, *shape; // words without blanks; shape "-" when there is nothing to say
	double bytes;           // that one operation of one rank moves; 0 for none
	double moves;           // the bytes that count for a rate, if one call does several operations; else 0
	enum perf_unit unit;
	perf_body ours, raw; // raw may be NULL: there is no baseline
	void *arg;
	bool lasting;  // long samples: what counts is the rate when everything has come to rest
	double warm;   // of one rank alone: seconds of operations before each repetition or sample, that do not count
	double *clock; // NULL, or where the bodies add the seconds that count, for loops that do more than the operation
};

void perf_solo(const struct perf_case *c); // rank 0 works while the others wait
void perf_all(const struct perf_case *c);  // all ranks work at the same time; the slowest counts

// One sample of this rank alone, in the case's unit: of *n operations, or, if that is 0, of as many as take so long.
double perf_sample(const struct perf_case *c, perf_body body, double seconds, long *n);
// The part that is hidden, in per cent, of transfers beside computation that takes twice as long.
double perf_hidden(void *t, void (*start)(void *t), void (*end)(void *t));

// Prints a figure measured elsewhere: reps values in the row's own unit. raw may be NULL. Rank 0 prints.
void perf_figures(const struct perf_case *c, const double *ours, const double *raw, int reps);
// Prints whether a total is exact. Rank 0 prints; a failure makes the worker's exit status 1.
void perf_check(const char *name, double got, double want);
bool perf_failed(void);

double perf_now(void);                                    // seconds
double perf_greatest(double x);                           // over all ranks; collective
double perf_total(double x);                              // over all ranks; collective
double perf_elapsed(double begin, double end);            // from the first begin to the last end; collective
void perf_pace(double *at_least, double quick, double full); // seconds a sample takes, by the kind of run

// Memory of one rank that all can reach directly. Collective; rank 0's address is returned everywhere.
void *perf_shared(size_t bytes);
void perf_shared_free(void *p);
void **perf_malloc(size_t bytes); // the addresses by rank. Collective
void perf_free(void **all);
void *perf_private(size_t bytes); // of this process alone, touched, on a page

// Raw barrier between all ranks, in memory of perf_shared: sense-reversing, polls, then yields.
struct perf_barrier {
	_Alignas(PERF_LINE) _Atomic int arrived;
	_Alignas(PERF_LINE) _Atomic int sense;
};
struct perf_gate {
	struct perf_barrier *shared;
	int sense;
};
void perf_gate_pass(struct perf_gate *g);
void perf_yield(void); // the core, to whoever else wants it
static inline void perf_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

// The compiler must not move memory accesses across, nor know where p points.
static inline void perf_opaque(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

void perf_resident(double *mib); // resident memory of this process

// The groups a worker can be asked for, by file.
void perf_put_get(void);
void perf_bandwidth(void);
void perf_strided(void);
void perf_vector(void);
void perf_accumulate(void);
void perf_rmw(void);
void perf_lock(void);
void perf_barriers(void);
void perf_memory(void);
void perf_memory_new(void);
void perf_nonblocking(void);
void perf_message(void);
void perf_collective(void);
void perf_init(void);
void perf_idle(void);
void perf_remote_small(void);
void perf_remote_asleep(void);
void perf_remote_bandwidth(void);
void perf_remote_strided(void);
void perf_remote_vector(void);
void perf_remote_batch(void);
void perf_remote_meeting(void);
void perf_remote_all(void);
void perf_remote_busy(void);
void perf_remote_crowded(void);
void perf_remote_overlap(void);
void perf_rdma_small(void);
void perf_rdma_asleep(void);
void perf_rdma_memory(void);
void perf_rdma_contiguous(void);
void perf_rdma_strided(void);
void perf_rdma_busy(void);
void perf_rdma_overlap(void);
void perf_rdma_fences(void);

#endif
