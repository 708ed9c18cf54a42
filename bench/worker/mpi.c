// SPDX-License-Identifier: BSD-3-Clause
// Baselines of an MPI: its own calls with the same work, in the processes that run ours. An MPI may
// need the target to call it (it has no thread of its own), so that ranks which have nothing to do
// wait in the MPI while it is measured, and in the library while that is measured. Also the group
// one-sided: what rank 0 does to its peer's memory, beside the MPI's windows.
#include "bench.h"

static double one = 1;

// Rank 0 does something n times, on a clock; then all do something else.
#define FIRST(name, clock, then, call)                                                       \
	static void name(void *arg, long n)                                                  \
	{                                                                                    \
		struct perf_transfer *t = arg;                                               \
		(void)t;                                                                     \
		double begin = timing_now();                                                   \
		for (long i = 0; perf_me == 0 && i < n; i++) {                               \
			call;                                                                \
		}                                                                            \
		clock += perf_me == 0 ? timing_now() - begin : 0;                              \
		then;                                                                        \
	}

#ifdef PERF_MPI
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 7, BYTES = 4096 };

static MPI_Win window, guard; // memory for operations; its locks are the mutex
static double spent;          // of the baselines that keep time
static long more = 1;

static void open_windows(void)
{
	char *memory;
	MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
	memset(memory, 0, BYTES);
	MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &guard);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, window);
	MPI_Barrier(MPI_COMM_WORLD); // a rank with its locks answers those without
}

static void close_windows(void)
{
	MPI_Win_unlock_all(window);
	MPI_Win_free(&window);
	MPI_Win_free(&guard);
}

static void send_message(struct perf_transfer *t)
{
	MPI_Send(t->mine, t->count[0], MPI_BYTE, perf_peer, TAG, MPI_COMM_WORLD);
}

static void receive_message(struct perf_transfer *t)
{
	MPI_Recv(t->mine, t->count[0], MPI_BYTE, perf_peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void half_trips(void *arg, long n)
{
	perf_half_trips(arg, n, send_message, receive_message);
}

PERF_BODY(barrier, MPI_Barrier(MPI_COMM_WORLD))

#define COLLECTIVE(name, call) \
	PERF_COUNTED(name, spent, MPI_Barrier(MPI_COMM_WORLD), call, (void)0)
COLLECTIVE(bcast, MPI_Bcast(t->mine, t->count[0] / 8, MPI_DOUBLE, 0, MPI_COMM_WORLD))
COLLECTIVE(sum,
	MPI_Allreduce(MPI_IN_PLACE, t->mine, t->count[0] / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))

// The others wait in the MPI.
#define BY_FIRST(name, call) FIRST(name, spent, MPI_Barrier(MPI_COMM_WORLD), call)
#define DONE MPI_Win_flush(perf_peer, window)
BY_FIRST(mpi_put, MPI_Put(t->mine, 8, MPI_BYTE, perf_peer, 0, 8, MPI_BYTE, window); DONE)
BY_FIRST(mpi_get, MPI_Get(t->mine, 8, MPI_BYTE, perf_peer, 0, 8, MPI_BYTE, window); DONE)
BY_FIRST(mpi_acc,
	 MPI_Accumulate(&one, 1, MPI_DOUBLE, perf_peer, 64, 1, MPI_DOUBLE, MPI_SUM, window);
	 DONE)
BY_FIRST(mpi_fetch_add, long old;
	 MPI_Fetch_and_op(&more, &old, MPI_LONG, perf_peer, 128, MPI_SUM, window); DONE)
BY_FIRST(mpi_lock, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, perf_peer, 0, guard);
	 MPI_Win_unlock(perf_peer, guard))

static const struct {
	const char *op;
	perf_body body;
	bool clocked;
	bool named; // OP/mpi always: in another worker a raw baseline has the row OP
} baselines[] = {
	{"message", half_trips, false, false},
	{"barrier", barrier, false, true},
	{"msg-barrier", barrier, false, true},
	{"bcast", bcast, true, false},
	{"gop-sum", sum, true, false},
	{"one-sided-put", mpi_put, true, false},
	{"one-sided-get", mpi_get, true, false},
	{"one-sided-acc", mpi_acc, true, false},
	{"one-sided-fetch-add", mpi_fetch_add, true, false},
	{"one-sided-lock", mpi_lock, true, false},
};

bool bench_mpi_baseline(struct perf_case *c)
{
	static char name[64];
	for (size_t i = 0; i < sizeof baselines / sizeof baselines[0]; i++)
		if (strcmp(c->op, baselines[i].op) == 0) {
			if (bench_raw() != BENCH_NONE || baselines[i].named) {
				snprintf(name, sizeof name, "%s/mpi", c->op);
				c->op = name;
			}
			c->raw = baselines[i].body;
			c->raw_clock = baselines[i].clocked ? &spent : NULL;
			return true;
		}
	return false;
}

#else
static void open_windows(void) {}
static void close_windows(void) {}
#endif

// The others wait in the next collective call of the library.
#define ALONE(name, call) FIRST(name, t->clock, (void)0, call)
ALONE(put, ARMCI_Put(t->mine, t->theirs, 8, perf_peer); ARMCI_Fence(perf_peer))
ALONE(get, ARMCI_Get(t->theirs, t->mine, 8, perf_peer))
ALONE(acc, ARMCI_Acc(ARMCI_ACC_DBL, &one, t->mine, t->theirs + 64, 8, perf_peer);
	ARMCI_Fence(perf_peer))
ALONE(fetch_add, long old; ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, t->theirs + 128, 1, perf_peer))
ALONE(lock, ARMCI_Lock(0, perf_peer); ARMCI_Unlock(0, perf_peer))

void perf_one_sided(void)
{
	static const struct {
		const char *op;
		perf_body body;
	} rows[] = {{"one-sided-put", put}, {"one-sided-get", get}, {"one-sided-acc", acc},
		{"one-sided-fetch-add", fetch_add}, {"one-sided-lock", lock}};
	struct perf_transfer t = perf_transfer(4096);
	struct perf_case c = {.shape = "-",
		.bytes = 8,
		.unit = TIMING_NS,
		.arg = &t,
		.clock = &t.clock};
	ARMCI_Create_mutexes(1);
	open_windows();
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		c.op = rows[i].op, c.ours = rows[i].body;
		perf_all(&c);
	}
	close_windows();
	ARMCI_Destroy_mutexes();
	perf_transfer_end(&t);
}
