// SPDX-License-Identifier: BSD-3-Clause
// Broadcast and global sum of 8 B to 4 MiB beside the installed MPI's own, where the worker has MPI. Each call starts
// with all ranks at the same point, and only the call counts: the slowest rank's total is taken.
#include "perf.h"

#include <stdlib.h>
#include <string.h>

#ifdef PERF_MPI
#include <mpi.h>
#endif

enum { MOST = 4 << 20 };

struct collective {
	struct perf_gate gate;
	double *data;
	int n; // doubles
	double seconds;
};

static void bcast(struct collective *c) { armci_msg_bcast(c->data, c->n * 8, 0); }
static void gop(struct collective *c) { armci_msg_dgop(c->data, c->n, (char *)"+"); }

static void each(struct collective *c, long n, void (*call)(struct collective *))
{
	for (long i = 0; i < n; i++) {
		perf_gate_pass(&c->gate);
		double begin = perf_now();
		call(c);
		c->seconds += perf_now() - begin;
	}
}

static void our_bcast(void *arg, long n) { each(arg, n, bcast); }
static void our_gop(void *arg, long n) { each(arg, n, gop); }

#ifdef PERF_MPI
static void mpi_bcast(struct collective *c) { MPI_Bcast(c->data, c->n, MPI_DOUBLE, 0, MPI_COMM_WORLD); }

static void mpi_gop(struct collective *c)
{
	MPI_Allreduce(MPI_IN_PLACE, c->data, c->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void raw_bcast(void *arg, long n) { each(arg, n, mpi_bcast); }
static void raw_gop(void *arg, long n) { each(arg, n, mpi_gop); }
#else
static const perf_body raw_bcast = NULL, raw_gop = NULL;
#endif

// Every rank contributes rank + i: the sum is known. Then rank 0's data must arrive everywhere.
static void right(struct collective *c)
{
	double wrong = 0;
	for (int i = 0; i < c->n; i++) c->data[i] = perf_me + i % 1000;
	gop(c);
	for (int i = 0; i < c->n; i++) wrong += c->data[i] != perf_n * (perf_n - 1) / 2 + perf_n * (i % 1000);
	perf_check("gop", perf_total(wrong), 0);
	wrong = 0;
	for (int i = 0; i < c->n; i++) c->data[i] = perf_me ? -1 : i;
	bcast(c);
	for (int i = 0; i < c->n; i++) wrong += c->data[i] != i;
	perf_check("bcast", perf_total(wrong), 0);
	memset(c->data, 0, MOST);
}

void perf_collective(void)
{
	struct collective state = {.gate.shared = perf_shared(sizeof(struct perf_barrier)), .data = perf_private(MOST)};
	state.n = MOST / 8;
	right(&state);
	for (int bytes = 8; bytes <= MOST; bytes *= perf_quick ? 64 : 2) {
		state.n = bytes / 8;
		struct perf_case c = {.shape = "-", .bytes = bytes, .unit = PERF_NS, .arg = &state, .clock = &state.seconds};
		c.op = "bcast", c.ours = our_bcast, c.raw = raw_bcast;
		perf_all(&c);
		c.op = "gop-sum", c.ours = our_gop, c.raw = raw_gop;
		perf_all(&c);
	}
	free(state.data);
	perf_shared_free(state.gate.shared);
}
