// SPDX-License-Identifier: BSD-3-Clause
// Latencies, eight bytes at a time (paper 000 table 1, paper 001 table 2): gets, puts until they
// are complete at the target and until the source may be used again, locks, unlocks,
// read-modify-write, fences; beside the MPI's messages.
#include "papers.h"

enum { BYTES = 8, SPACE = 4096, TAG = 5 };

static double counted; // seconds, of bodies that do more than what counts

#define T ((struct perf_transfer *)arg)
#define PUT ARMCI_Put(T->mine, T->theirs, BYTES, perf_peer)
#define FENCE ARMCI_Fence(perf_peer)
#define LOCK ARMCI_Lock(0, perf_peer)
#define UNLOCK ARMCI_Unlock(0, perf_peer)

PERF_BODY(get, ARMCI_Get(t->theirs, t->mine, BYTES, perf_peer))
PERF_BODY(put, PUT; FENCE)
PERF_BODY(lock_unlock, LOCK; UNLOCK)
PERF_BODY(fetch_add, long old;
	  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, t->theirs + 128, 1, perf_peer))
PERF_BODY(swap, long mine = 1; ARMCI_Rmw(ARMCI_SWAP_LONG, &mine, t->theirs + 256, 0, perf_peer))
PAPERS_COUNTED(put_local, counted, (void)0, PUT, FENCE)
PAPERS_COUNTED(fence, counted, PUT, FENCE, (void)0)
PAPERS_COUNTED(lock, counted, (void)0, LOCK, UNLOCK)
PAPERS_COUNTED(unlock, counted, LOCK, UNLOCK, (void)0)

static void say(struct perf_transfer *t)
{
	MPI_Send(t->mine, BYTES, MPI_BYTE, perf_peer, TAG, MPI_COMM_WORLD);
}

static void hear(struct perf_transfer *t)
{
	MPI_Recv(t->mine, BYTES, MPI_BYTE, perf_peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void mpi_trip(void *arg, long n) { perf_half_trips(arg, 2 * n, say, hear); }

static void mpi_half(void *arg, long n)
{
	double begin = timing_now();
	mpi_trip(arg, n);
	counted = (timing_now() - begin) / 2;
}

void papers_latency(void)
{
	struct perf_transfer t = perf_transfer(SPACE);
	struct perf_case c = {.op = "latency",
		.shape = "-",
		.bytes = BYTES,
		.unit = TIMING_NS,
		.arg = &t};
	const struct papers_way ways[] = {{"get", get, PAPERS_ALONE, NULL},
		{"put", put, PAPERS_ALONE, NULL}, {"put-local", put_local, PAPERS_ALONE, &counted},
		{"fence", fence, PAPERS_ALONE, &counted}, {"lock", lock, PAPERS_ALONE, &counted},
		{"unlock", unlock, PAPERS_ALONE, &counted},
		{"lock+unlock", lock_unlock, PAPERS_ALONE, NULL},
		{"fetch-add", fetch_add, PAPERS_ALONE, NULL}, {"swap", swap, PAPERS_ALONE, NULL},
		{"mpi-half", perf_n > 1 ? mpi_half : NULL, PAPERS_MPI, &counted},
		{"mpi-trip", perf_n > 1 ? mpi_trip : NULL, PAPERS_MPI, NULL}, {.name = NULL}};
	ARMCI_Create_mutexes(1);
	papers_contest(&c, ways, "mpi-trip");
	ARMCI_Destroy_mutexes();
	perf_transfer_end(&t);
}
