// SPDX-License-Identifier: BSD-3-Clause
// What the microbenchmarks of the papers share: contests of several ways to do the same thing, by
// turns in the same processes, and ways that several groups have. Rows are named GROUP/WAY. The
// groups are in groups.c.
#ifndef PAPERS_H
#define PAPERS_H

#include <mpi.h>

#include "bench.h"

enum { PAPERS_WAYS = 16 };

// The ranks that call a way's body.
enum papers_callers {
	PAPERS_ALONE,    // rank 0; the others wait in the library, asleep
	// all, with as many turns: the far side takes part in the MPI. Rank 0's time counts
	PAPERS_MPI,
	PAPERS_MPI_ALL,  // the same, but the slowest counts
	PAPERS_TOGETHER, // all, with as many turns, in the library: the slowest counts
};

struct papers_way {
	const char *name; // NULL: the list's end
	perf_body body;   // NULL: there is no such way here
	enum papers_callers callers;
	double *clock; // NULL, or where the body adds the seconds that count
};

// Measures the ways by turns in each repetition, the order moving on. Each is a row OP/NAME; the
// way `beside`, if it is there, is what the others are held against. The case's arg is the bodies'.
// Collective.
void papers_contest(const struct perf_case *c, const struct papers_way *ways, const char *beside);
// The same without rows: the figures of each way, in the order of the list, in the unit of the
// case. On rank 0.
void papers_measure(const struct perf_case *c, const struct papers_way *ways,
	double figure[PAPERS_WAYS][TIMING_REPS_MAX]);
// Prints one row OP/NAME; beside may be NULL.
void papers_row(const struct perf_case *c, const char *name, const double *figure,
	const double *beside);

bool papers_takes_part(void); // this rank is rank 0 or its peer
double papers_tick(void);     // seconds that it takes to read the clock

// A body that does more than what counts: what counts is the call, without reading the clock.
#define PAPERS_COUNTED(name, clock, before, call, after) \
	PERF_COUNTED(name, clock, before, call, clock -= papers_tick(); after)

// Memory of which consecutive accesses use other places, so that data is not in the cache (paper
// 001, section 4): places in rows of `across`, `step` bytes apart, and the rows `down` bytes apart.
struct papers_moving {
	struct perf_transfer t;
	size_t across, step, down, places, next;
	MPI_Datatype type; // what a message is made of
	int elements;
	double clock;
};
enum { PAPERS_SPACE = 16 << 20 };
struct papers_moving papers_moving(void); // collective
void papers_moving_end(struct papers_moving *m);
void papers_contiguous(struct papers_moving *m, int bytes); // from now on, by any rank
// of an array of doubles with as many rows as fit
enum { PAPERS_LEADING = 1024 };
void papers_patches(struct papers_moving *m, int n);        // of n by n doubles
size_t papers_place(struct papers_moving *m);               // the offset of the next place

// A body over the next place, of `mine` and of `theirs`; t is what the call is about.
#define PAPERS_MOVING(name, ...)                                                                   \
	static void name(void *arg, long n)                                                        \
	{                                                                                          \
		struct papers_moving *m = arg;                                                     \
		struct perf_transfer *t = &m->t;                                                   \
		for (long i = 0; i < n; i++) {                                                     \
			size_t at = papers_place(m);                                               \
			char *mine = t->mine + at, *theirs = t->theirs + at;                       \
			__VA_ARGS__;                                                               \
		}                                                                                  \
	}

// Bodies for PAPERS_MPI with a papers_moving: half the time there and back, on its clock; a message
// that is answered by an empty one.
void papers_mpi_half(void *arg, long n);
void papers_mpi_answered(void *arg, long n);

// The raw way that moves as many contiguous bytes, as a put or as a get, also from place to place:
// memcpy, one socket or one request by verbs after the other.
struct papers_way papers_raw(struct papers_moving *m, bool put);

#endif
