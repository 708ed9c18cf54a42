// SPDX-License-Identifier: BSD-3-Clause
// The raw socket between ranks 0 and 1: bench/worker's wire, for whose sake this file defines what
// it takes from its program. A thread of rank 1 answers; while a sample runs, rank 1 itself stays
// out of its way.
#define _GNU_SOURCE
#include "windows.h"

#include <errno.h>
#include <time.h>

#include "dial.h"
#include "perf.h"
#include "wire.h"

enum { TAG = 3, OVER };

int perf_me, perf_n;
static struct perf_wire wire;
static struct {
	size_t out, back;
	int pieces;
} trip;

void perf_need(bool ok, const char *what) { need(ok, what); }

void *perf_private(size_t bytes) { return touched(bytes); }

void perf_tell(int rank, const void *data, int bytes)
{
	MPI_Send(data, bytes, MPI_BYTE, rank, TAG, MPI_COMM_WORLD);
}

void perf_hear(int rank, void *data, int bytes)
{
	MPI_Recv(data, bytes, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void socket_open(size_t most)
{
	perf_me = me;
	perf_n = ranks;
	wire = perf_wire_open(most + 4096, 1);
}

void socket_close(void) { perf_wire_close(&wire); }

void socket_sizes(size_t out, size_t back, int pieces)
{
	trip.out = out;
	trip.back = back;
	trip.pieces = pieces;
}

// Sleeps until rank 0 says that its sample is over: MPI_Recv would take a core from the answering
// thread.
static void doze(void)
{
	int there = 0;
	while (!there) {
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
		MPI_Iprobe(0, OVER, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
	}
	MPI_Recv(NULL, 0, MPI_BYTE, 0, OVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double trips(long n)
{
	if (me == 1)
		doze();
	if (me != 0)
		return 0;
	perf_wire_style(&wire, PERF_MIXED);
	double begin = timing_now();
	for (long i = 0; i < n; i++) {
		for (int k = 1; k < trip.pieces; k++)
			perf_wire_send(&wire, trip.out, trip.out ? 0 : trip.back);
		perf_wire_send(&wire, trip.out, trip.back);
		for (int k = 1; !trip.out && k < trip.pieces; k++) perf_wire_take(&wire, trip.back);
		perf_wire_take(&wire, trip.back);
	}
	double t = timing_now() - begin;
	perf_wire_style(&wire, PERF_ASLEEP);
	MPI_Send(NULL, 0, MPI_BYTE, 1, OVER, MPI_COMM_WORLD);
	return t;
}

double socket_trips(long n) { return trips(n); }
double socket_half_trips(long n) { return trips(n / 2); }
