// SPDX-License-Identifier: BSD-3-Clause
// What the files of the benchmark of MPI one-sided communication share. It is a plain MPI program,
// without anything of this library: it runs on an MPI's own one-sided communication, and on ours if
// that is preloaded. It must not include a header of the library; socket.c shares the raw socket
// with bench/worker.
#ifndef WINDOWS_H
#define WINDOWS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "timing.h"

enum { BURST = 16 }; // operations of an epoch, as in the paper that the figures are of

extern int me, ranks;  // in MPI_COMM_WORLD
extern int peer;       // the other rank, where there are two
extern int reps;       // of every figure
extern bool quick;     // few sizes and turns, that only show that everything works
extern bool created;   // windows are made by MPI_Win_create over malloc'ed memory
extern bool sockets;   // beside a raw socket between ranks 0 and 1

// Does something n times and returns the seconds that count, 0 on ranks whose time does not count.
// All ranks call it.
typedef double (*body)(long n);

struct figure {
	const char *op;
	const char *x; // what it is drawn over, a number; "-": the bytes
	double bytes;  // of one operation
	int ops;       // of one turn, for MBS
	enum timing_unit unit;
	body ours, raw; // raw NULL: none
	long turns;     // of a sample; 0: as many as take some milliseconds
};

// The samples of a figure in its unit; of its baseline, if there is one.
struct samples {
	double ours[TIMING_REPS_MAX], raw[TIMING_REPS_MAX];
	int count;
};

// Measures and prints a figure, samples of ours and raw alternating; the slowest rank counts.
// Collective.
struct samples measure(const struct figure *f);
// Prints a figure of values in its unit; raw may be NULL.
void print_figure(const struct figure *f, const double *ours, const double *raw, int count);

void need(bool ok, const char *what);
void *touched(size_t bytes); // zeroed private memory

// A window of so many bytes at each rank, twice memory of this rank alone of the same size, and the
// other ranks as a group.
struct area {
	MPI_Win win;
	char *base, *mine, *spare;
	MPI_Group others; // rank 0: all the others; the others: rank 0
};
extern struct area area;
bool area_open(size_t bytes); // false, and says so, if the MPI cannot. Collective
void area_close(void);

// A body of rank 0 alone; the others wait in the MPI.
#define BY_FIRST(name, ...) TIMING_LOOP(name, me == 0, if (me != 0) break; __VA_ARGS__)

// Baselines by the raw socket (socket.c): a request of so many bytes, `pieces` times, and its
// answer.
void socket_open(size_t most);
void socket_close(void);
void socket_sizes(size_t out, size_t back, int pieces);
double socket_trips(long n);      // one turn is there and back
double socket_half_trips(long n); // one turn is one way

// Baselines by messages (messages.c), between ranks 0 and 1.
void message_sizes(size_t bytes);
double message_half_trips(long n);
double message_exchanges(long n); // both send
double message_stream_out(long n); // BURST messages of rank 0 and a word that they are there
double message_stream_in(long n);

// The figures.
void latency(void);
void bidirectional(void);
void get_fence(void);
void bandwidth(void);
void synchronisation(void);
void overlap(void);
void skew(void);
void origins(void);
void small(void);
void fetch(void);
void swap(void);
void accumulate(void);
void strided(void);
void locks(void);

#endif
