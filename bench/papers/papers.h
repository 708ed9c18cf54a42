// SPDX-License-Identifier: BSD-3-Clause
// What the microbenchmarks of the papers share: contests of several ways to do the same thing, by turns in the same
// processes, and ways that several groups have. Rows are named GROUP/WAY. The groups are in groups.c.
#ifndef PAPERS_H
#define PAPERS_H

#include "bench.h"

// Who calls a way's body.
enum papers_who {
	PAPERS_ALONE,    // rank 0; the others wait in the library, asleep
	PAPERS_MPI,      // all, with as many turns: the far side takes part in the MPI. Rank 0's time counts
	PAPERS_TOGETHER, // all, with as many turns: the slowest counts
};

struct papers_way {
	const char *name; // NULL: the list's end
	perf_body body;   // NULL: there is no such way here
	enum papers_who who;
	double *clock; // NULL, or where the body adds the seconds that count
};

// Measures the ways by turns in each repetition, the order moving on. Each is a row OP/NAME; the way `beside`, if it is
// there, is what the others are held against. perf_contest's arg is the bodies'. Collective.
void papers_contest(const struct perf_case *c, const struct papers_way *ways, const char *beside);

// A way called `raw`: the raw baseline that an operation of the worker has, without the library.
struct papers_way papers_raw(const char *op, double bytes);

bool papers_takes_part(void); // this rank is rank 0 or its peer
double papers_seconds(void);  // that a sample takes

#endif
