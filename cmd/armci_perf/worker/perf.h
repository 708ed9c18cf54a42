// SPDX-License-Identifier: BSD-3-Clause
// What the files of the worker of armci_perf share: a case (an operation as a loop), the two ways
// to measure one, and the lines that the worker prints. The worker uses the public C interface
// only. The worker of bench/ is made of these files too; it adds a baseline to the cases and has
// groups of its own.
#ifndef PERF_H
#define PERF_H

#include <armci.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "timing.h"

extern int perf_me, perf_n;      // rank and number of ranks
// the rank whose memory is used: rank 0 and rank n/2 are each other's
extern int perf_peer;
extern bool perf_far;            // rank 0's peer is on another node
extern bool perf_quick;          // short runs that only show that everything works
extern bool perf_alone;          // no baselines
extern int perf_reps;            // repetitions of every figure, ours and raw alternating
extern const char *perf_label;   // is appended to the names of all figures
extern double perf_init_seconds; // what the initialisation of the library took on this rank

// Does an operation n times.
typedef void (*perf_body)(void *arg, long n);

struct perf_case {
	const char *op, *shape; // words without blanks; shape "-" when there is nothing to say
	double bytes;           // that one operation of one rank moves; 0 for none
	double ops;             // operations of one turn of a body's loop; 0 for one
	enum timing_unit unit;
	perf_body ours, raw; // raw NULL: perf_baseline may know one
	void *arg;           // of both
	// long samples: what counts is the rate when everything has come to rest
	bool lasting;
	// of one rank alone: seconds of operations before each repetition or sample, that do not
	// count
	double warm;
	// NULL, or where `ours` adds the seconds that count, for loops that do more than the
	// operation
	double *clock;
	double *raw_clock;   // the same of `raw`
};

void perf_solo(const struct perf_case *c); // rank 0 works while the others wait
void perf_all(const struct perf_case *c);  // all ranks work at the same time; the slowest counts

// Gives a case without a baseline its k-th one, and another name if it likes; false if there are no
// more than k. The worker that is installed knows none.
bool perf_baseline(struct perf_case *c, int k);

// One sample of this rank alone, in the case's unit: of *n turns, or, if that is 0, of as many as
// take so long.
double perf_sample(const struct perf_case *c, perf_body body, double seconds, long *n);

// The ranks that take part do something over and over for some time: the rate of all together in
// Mop/s, and the least of their shares by the fair one. Returns how often this rank did.
// Collective.
double perf_compete(perf_body body, void *arg, bool takes_part, double *rate, double *share);

// Prints a figure measured elsewhere: reps values in the row's own unit. raw may be NULL. Rank 0
// prints.
void perf_figures(const struct perf_case *c, const double *ours, const double *raw, int reps);
// Prints whether a total is exact. Rank 0 prints; a failure makes the worker's exit status 1.
void perf_check(const char *name, double got, double want);
bool perf_failed(void);

double perf_resident(void);                       // memory of this process in MiB
double perf_greatest(double x);                   // over all ranks; collective
double perf_total(double x);                      // over all ranks; collective
// from the first begin to the last end; collective
double perf_elapsed(double begin, double end);
double perf_pace(double quick, double full);      // the one or the other, by the kind of run

void perf_need(bool ok, const char *what); // ends the job if not, with errno's text
// zeroed memory of each rank: the addresses by rank. Collective
void **perf_malloc(size_t bytes);
void perf_free(void **all);                // collective
void *perf_private(size_t bytes);          // of this process alone, touched, on a page

// What operations on the peer are about. Bodies of one-sided operations have one as their argument.
struct perf_transfer {
	void **all;              // of perf_malloc
	char *block, *mine;      // private memory; the place in it that is used
	char *theirs;            // the peer's memory
	int stride[1], count[2]; // count[0] is the number of bytes of what is contiguous
	armci_giov_t put, get;   // scattered elements
	double clock;            // for bodies that keep time
};
struct perf_transfer perf_transfer(size_t bytes); // collective
void perf_transfer_end(struct perf_transfer *t);  // collective

// A body from one expression over `t`.
#define PERF_BODY(name, ...)                                                     \
	static void name(void *arg, long n)                                      \
	{                                                                        \
		struct perf_transfer *t = arg;                                   \
		(void)t;                                                         \
		for (long i = 0; i < n; i++) {                                   \
			__VA_ARGS__;                                             \
		}                                                                \
	}
// A body that does more than what counts: the call is added to the clock, what is done before and
// after it is not.
#define PERF_COUNTED(name, clock, before, call, after)                           \
	static void name(void *arg, long n)                                      \
	{                                                                        \
		struct perf_transfer *t = arg;                                   \
		(void)t;                                                         \
		for (long i = 0; i < n; i++) {                                   \
			before;                                                  \
			double begin = timing_now();                             \
			call;                                                    \
			clock += timing_now() - begin;                           \
			after;                                                   \
		}                                                                \
	}
// A body that also fences where the peer is on another node: complete there, too.
#define PERF_FENCED(name, ...) PERF_BODY(name, __VA_ARGS__; if (perf_far) ARMCI_Fence(perf_peer))

// Half a round trip between rank 0, which begins, and its peer is one operation: n of them, an even
// number.
typedef void (*perf_turn)(struct perf_transfer *t);
void perf_half_trips(struct perf_transfer *t, long n, perf_turn say, perf_turn hear);

// How much of a nonblocking transfer is hidden, in per cent, beside computation that takes twice as
// long.
struct perf_overlap {
	struct perf_transfer t;
	bool get;
	armci_hdl_t handle;
	// NULL: no baseline
	void (*raw_start)(struct perf_overlap *o), (*raw_end)(struct perf_overlap *o);
	void *raw;
};
// may set raw_start and raw_end. Of bench/, as perf_baseline
void perf_overlap_baseline(struct perf_overlap *o);
void perf_overlap_rows(struct perf_overlap *o, const char *op, int bytes);

// The groups a worker can be asked for, by name. A list ends without a name.
struct perf_group {
	const char *name;
	void (*run)(void);
};
extern const struct perf_group perf_groups[];      // the installed ones
extern const struct perf_group *const perf_more[]; // lists of bench/, up to NULL
// before the library starts: what bench/ has to do
void perf_begin(int *argc, char **argv);
void perf_ready(void);                             // when it has started
void perf_end(void);                               // before it ends

#endif
