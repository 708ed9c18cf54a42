// SPDX-License-Identifier: BSD-3-Clause
// A get beside the MPI's own one-sided get between two fences (paper 001, related work). Not every
// MPI has windows between nodes (Open MPI over TCP: --mca osc pt2pt): the group then ends with a
// word about it, and a window that hangs ends the process.
#include "papers.h"

#include <stdio.h>
#include <unistd.h>

enum { SPACE = 128 << 10, PATIENCE = 120 };

static MPI_Win window;

// Makes the window of all ranks; false, everywhere, if one of them cannot.
static bool open_window(void)
{
	char *memory;
	MPI_Errhandler before;
	alarm(PATIENCE);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int bad = MPI_Win_allocate(SPACE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window) !=
		MPI_SUCCESS;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
	MPI_Errhandler_free(&before);
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (bad)
		alarm(0);
	if (bad && perf_me == 0)
		fprintf(stderr, "papers: mpi-get-fence: this MPI has no windows here\n");
	return !bad;
}

static void close_window(void)
{
	MPI_Win_free(&window);
	alarm(0);
}

PERF_BODY(get, ARMCI_Get(t->theirs, t->mine, t->count[0], perf_peer))

static void mpi_get_fence(void *arg, long n)
{
	struct perf_transfer *t = arg;
	int bytes = t->count[0];
	for (long i = 0; i < n; i++) {
		MPI_Win_fence(0, window);
		if (perf_me == 0)
			MPI_Get(t->mine, bytes, MPI_BYTE, perf_peer, 0, bytes, MPI_BYTE, window);
		MPI_Win_fence(0, window);
	}
}

void papers_get_fence(void)
{
	static const struct papers_way ways[] = {{"get", get, PAPERS_ALONE, NULL},
		{"mpi", mpi_get_fence, PAPERS_MPI, NULL}, {.name = NULL}};
	static const int sizes[] = {1024, SPACE};
	struct perf_transfer t = perf_transfer(SPACE);
	if (open_window()) {
		for (int i = 0; i < 2; i++) {
			struct perf_case c = {.op = "mpi-get-fence",
				.shape = "-",
				.bytes = sizes[i],
				.unit = TIMING_NS,
				.arg = &t};
			t.count[0] = sizes[i];
			papers_contest(&c, ways, "mpi");
		}
		close_window();
	}
	perf_transfer_end(&t);
}
