// SPDX-License-Identifier: BSD-3-Clause
// Barrier, broadcast and sum of all ranks beside the MPI's in the same processes; the slowest
// rank's time. There is a barrier before each sum, and only the sum counts. Broadcasts follow each
// other, each from the next rank: with a barrier before each, what counted most was how long before
// the root another rank leaves that barrier, which differs by whole time slices where ranks share a
// core.
#include "papers.h"

enum { MOST = 1 << 20 };

static double counted;

#define T ((struct perf_transfer *)arg)
#define DOUBLES ((double *)(void *)T->mine)
#define COUNT (T->count[0] / 8)
#define LIBRARY(name, call) PAPERS_COUNTED(name, counted, armci_msg_barrier(), call, (void)0)
#define MPI_S(name, call) PAPERS_COUNTED(name, counted, MPI_Barrier(MPI_COMM_WORLD), call, (void)0)
LIBRARY(sum, armci_msg_dgop(DOUBLES, COUNT, (char *)"+"))
MPI_S(mpi_sum, MPI_Allreduce(MPI_IN_PLACE, DOUBLES, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))
PERF_BODY(bcast, armci_msg_bcast(t->mine, t->count[0], (int)(i % perf_n)))
PERF_BODY(mpi_bcast,
	MPI_Bcast(t->mine, t->count[0] / 8, MPI_DOUBLE, (int)(i % perf_n), MPI_COMM_WORLD))
PERF_BODY(barrier, armci_msg_barrier())
PERF_BODY(mpi_barrier, MPI_Barrier(MPI_COMM_WORLD))

static void pair(struct perf_case c, const char *op, perf_body ours, perf_body theirs,
	double *clock)
{
	const struct papers_way ways[] = {{"armci", ours, PAPERS_TOGETHER, clock},
		{"mpi", theirs, PAPERS_MPI_ALL, clock}, {.name = NULL}};
	c.op = op;
	papers_contest(&c, ways, "mpi");
}

void papers_collectives(void)
{
	struct perf_transfer t = perf_transfer(MOST);
	struct perf_case c = {.shape = "-", .unit = TIMING_NS, .arg = &t};
	pair(c, "collectives-barrier", barrier, mpi_barrier, NULL);
	for (int bytes = 8; bytes <= (int)perf_pace(4096, MOST); bytes *= bytes == 8 ? 8 :
			perf_quick                                                   ? 64 :
										       4) {
		c.bytes = t.count[0] = bytes;
		pair(c, "collectives-bcast", bcast, mpi_bcast, NULL);
		pair(c, "collectives-sum", sum, mpi_sum, &counted);
	}
	perf_transfer_end(&t);
}
