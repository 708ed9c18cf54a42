// SPDX-License-Identifier: BSD-3-Clause
// What the files of the program waits share: one start of it measures operations in which ranks
// wait for each other, by the library (ours.c, raw.c) or by an MPI (messages.c, epochs.c). Both
// programs have main.c and handover.c; the rest of a program is its flavour.
#ifndef WAITS_H
#define WAITS_H

#include <stdbool.h>
#include <stddef.h>

#include "timing.h"

enum { WAITS_MOST = 64 << 10 }; // bytes of an operation

extern int me, ranks;
extern int size; // bytes of the operation that is measured

// body does an operation n times, on all ranks. It returns the seconds that count: 0 on ranks that
// are not timed.
typedef double (*body)(long n);

// turn is one operation between two ranks, one way.
typedef void (*turn)(void);

struct operation {
	const char *name;
	body run;
	bool pairs;   // between ranks 0 and 1, 2 and 3 and so on: needs an even number of ranks
	bool trip;    // one turn is there and back, else one way
	turn send, receive;                // of pairs
	void (*lock)(void), (*unlock)(void); // of hand-overs
};

// A flavour: its operations, up to one without a name.
extern const struct operation operations[];
// Starts the library or the MPI and sets me and ranks. The library must be below `build`, if that
// is not NULL.
void flavour_start(int *argc, char ***argv, const char *build);
void flavour_end(void);
void flavour_barrier(void);
double flavour_greatest(double x); // over all ranks, known to all. Collective
// Gathers n numbers of each rank at rank 0, in the order of the ranks. Collective.
void flavour_gather(double *from, int n, double *to);

void need(bool ok, const char *what);   // ends the job if not
void *touched(size_t bytes);            // zeroed private memory
int peer(void);                         // of pairs
void check(bool ok);                    // false: the operation's result is wrong

// Seconds of n operations of pairs: turns of one rank and the other.
double pair_turns(const struct operation *o, long n);
// Seconds that n hand-overs of a lock take that all ranks from `first` on want all the time.
// Counted is how often its owner changes while all of them want it.
double handovers(const struct operation *o, int first, long n);

#endif
