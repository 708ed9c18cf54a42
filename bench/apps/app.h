// SPDX-License-Identifier: BSD-3-Clause
// What the applications of the papers share: their start and end, the clock of communication, the
// measurement of their versions by turns, and the lines that they print. An application is an MPI
// program that also uses the library, so that its versions by messages and one-sided ones run in
// the same processes.
//
//   APPLICATION [-q] [-r REPS] [-v VERSION,...] [ARGUMENT]... -q: the smallest problem, once; -v:
//   these versions only
//
// Lines are those of timing.h. Of each version: PERF
// APP/VERSION with the time of the slowest rank, for each rank PERF APP/VERSION:comm with the rank
// in the place of the shape and the time it spent in communication, and CHECK APP/VERSION with what
// its verification says.
#ifndef APP_H
#define APP_H

#include <armci.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timing.h"

extern int app_me, app_n; // rank and number of ranks
extern bool app_quick;    // the smallest problem, to show that it works
extern int app_reps;      // repetitions of every version, which take turns (default 3)

// Starts MPI and the library and reads the options; returns the index of the first argument behind
// them. usage names the arguments, of which there are so many at most. A wrong option, or one more
// argument, ends the job with exit status 2.
int app_start(int argc, char **argv, const char *usage, int most);
// The number that is the argument at an index; usual if there is none, -1 if it is no number, or
// does not fit.
int app_argument(int argc, char **argv, int index, int usual);
// Ends both, and returns the exit status: 1 if any verification failed.
int app_end(void);

// Ends the job with a message if not ok, on any rank.
void app_need(bool ok, const char *what);

// One way to do the work.
struct app_version {
	const char *name; // a word
	// Begins from the start, does the work, and returns the seconds that count on this rank:
	// those between two barriers that the version makes itself. Collective.
	double (*run)(void *arg);
	// The verification, not timed. Collective; every rank returns the same.
	bool (*good)(void *arg);
};

// Runs the versions that were asked for, app_reps times by turns, and prints their lines. shape:
// the problem, a word without blanks. flops: of the work, for the rate PERF APP/VERSION:rate in
// Mop/s; 0: none. Collective.
void app_contest(const char *app, const char *shape, const struct app_version *versions, int count,
	void *arg, double flops);

// Whatever is between the two is communication (waits for others included). They do not nest.
void app_comm_begin(void);
void app_comm_end(void);
void app_comm_clear(void); // what it was up to now does not count
#define APP_COMM(...)             \
	do {                      \
		app_comm_begin(); \
		__VA_ARGS__;      \
		app_comm_end();   \
	} while (0)

// Zeroed memory of ARMCI_Malloc at each rank: the addresses by rank. Collective, as its release.
void **app_malloc(size_t bytes);
void app_free(void **all);
// Zeroed private memory, touched. For free.
void *app_private(size_t bytes);
// Private memory of ARMCI_Malloc_local, as it comes; not null for 0 bytes, either. For
// ARMCI_Free_local.
void *app_local(size_t bytes);

// The greatest of all ranks, known to all. Collective.
double app_greatest(double x);

// A grid of all ranks, row after row and as square as possible (*rows <= *columns), and the place
// of this rank in it.
void app_grid(int *rows, int *columns, int *row, int *column);

// Numbers that look random, the same for the same key at every rank: 64 bits (the finalizer of
// splitmix64), and one in
// [-1/2, 1/2).
uint64_t app_random(uint64_t key);
double app_random_double(uint64_t key);

#endif
