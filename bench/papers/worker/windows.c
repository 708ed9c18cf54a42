// SPDX-License-Identifier: BSD-3-Clause
// The MPI's own one-sided operations beside the library's: put, get and fetch-and-op in a passive epoch, 8 bytes at a time
// (paper 000 table 1), and a get between two fences (paper 001, related work). Not every MPI can between nodes (Open MPI over
// TCP: --mca osc pt2pt): these groups end with a word about it, and a window that hangs ends the process.
#include "papers.h"

#include <stdio.h>
#include <unistd.h>

enum { BYTES = 8, SPACE = 128 << 10, PATIENCE = 120 };

static MPI_Win window;
static double counted; // seconds, of the MPI's ways

// Makes the window of all ranks; false, everywhere, if one of them cannot.
static bool open_window(const char *group)
{
	char *memory;
	MPI_Errhandler before;
	alarm(PATIENCE);
	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int bad = MPI_Win_allocate(SPACE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window) != MPI_SUCCESS;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
	MPI_Errhandler_free(&before);
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (bad)
		alarm(0);
	if (bad && perf_me == 0)
		fprintf(stderr, "papers: %s: this MPI has no windows here\n", group);
	return !bad;
}

static void close_window(void)
{
	MPI_Win_free(&window);
	alarm(0);
}

// By rank 0, while the others are in the MPI, where some need them.
#define IN_EPOCH(name, call)                                                              \
	static void name(void *arg, long n)                                               \
	{                                                                                 \
		struct perf_transfer *t = arg;                                            \
		double begin = perf_now();                                                \
		for (long i = 0; perf_me == 0 && i < n; i++) {                            \
			call;                                                             \
			MPI_Win_flush(perf_peer, window);                                 \
		}                                                                         \
		counted = perf_now() - begin;                                             \
		MPI_Barrier(MPI_COMM_WORLD);                                              \
	}
IN_EPOCH(mpi_get, MPI_Get(t->mine, BYTES, MPI_BYTE, perf_peer, 0, BYTES, MPI_BYTE, window))
IN_EPOCH(mpi_put, MPI_Put(t->mine, BYTES, MPI_BYTE, perf_peer, 0, BYTES, MPI_BYTE, window))
IN_EPOCH(mpi_fetch_add, long one = 1; MPI_Fetch_and_op(&one, t->mine, MPI_LONG, perf_peer, 64, MPI_SUM, window))

PERF_BODY(get, ARMCI_Get(t->theirs, t->mine, t->count[0], perf_peer))
PERF_BODY(put, ARMCI_Put(t->mine, t->theirs, BYTES, perf_peer); ARMCI_Fence(perf_peer))
PERF_BODY(fetch_add, long old; ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, t->theirs + 64, 1, perf_peer))

void papers_latency_windows(void)
{
	static const struct papers_way ways[] = {
		{"get", get, PAPERS_ALONE, NULL}, {"mpi-get", mpi_get, PAPERS_MPI, &counted},
		{"put", put, PAPERS_ALONE, NULL}, {"mpi-put", mpi_put, PAPERS_MPI, &counted},
		{"fetch-add", fetch_add, PAPERS_ALONE, NULL}, {"mpi-fetch-add", mpi_fetch_add, PAPERS_MPI, &counted},
		{.name = NULL}};
	struct perf_transfer t = perf_transfer(SPACE);
	struct perf_case c = {.op = "latency-windows", .shape = "-", .bytes = BYTES, .unit = PERF_NS, .arg = &t};
	t.count[0] = BYTES;
	if (open_window(c.op)) {
		MPI_Win_lock_all(0, window);
		papers_contest(&c, ways, NULL);
		MPI_Win_unlock_all(window);
		close_window();
	}
	perf_transfer_end(&t);
}

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
	static const struct papers_way ways[] = {
		{"get", get, PAPERS_ALONE, NULL}, {"mpi", mpi_get_fence, PAPERS_MPI, NULL}, {.name = NULL}};
	static const int sizes[] = {1024, 131072};
	struct perf_transfer t = perf_transfer(SPACE);
	if (open_window("mpi-get-fence")) {
		for (int i = 0; i < 2; i++) {
			struct perf_case c = {.op = "mpi-get-fence", .shape = "-", .bytes = sizes[i], .unit = PERF_NS, .arg = &t};
			t.count[0] = sizes[i];
			papers_contest(&c, ways, "mpi");
		}
		close_window();
	}
	perf_transfer_end(&t);
}
