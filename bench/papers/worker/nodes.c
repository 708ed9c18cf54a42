// SPDX-License-Identifier: BSD-3-Clause
// Several nodes. Fences (paper 001 fig. 12): ARMCI_AllFence beside a fence of each rank after the
// other, after a put to each, called by rank 0 alone and by all ranks at the same time, by the
// number of ranks that something is put to; what it improves is a row of its own. One to all (paper
// 004 fig. 6): rank 0 puts a patch to all others, blocking, nonblocking, and by messages of a
// derived type, each of which is answered when it has arrived. Starts with a rank for each node.
#include "papers.h"

#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 512, MOST_RANKS = 64, TAG = 31, ANSWER = 32 };

struct fences {
	char *mine, **theirs;
	int ranks; // that something is put to, those after this one
	double clock;
};

static int after(int k) { return (perf_me + k) % perf_n; }

static void put_to(const struct fences *f)
{
	for (int k = 1; k <= f->ranks; k++)
		ARMCI_Put(f->mine, f->theirs[after(k)] + 64 * perf_me, 8, after(k));
}

static void fence_each(const struct fences *f)
{
	for (int k = 1; k <= f->ranks; k++) ARMCI_Fence(after(k));
}

#define F ((struct fences *)arg)
PAPERS_COUNTED(all_fence, F->clock, put_to(F), ARMCI_AllFence(), (void)0)
PAPERS_COUNTED(sequence, F->clock, put_to(F), fence_each(F), (void)0)

static void improvement(const struct perf_case *c, const char *name, const double *all,
	const double *one)
{
	double percent[TIMING_REPS_MAX];
	struct perf_case row = *c;
	for (int i = 0; i < perf_reps; i++)
		percent[i] = one[i] > 0 ? 100 * (1 - all[i] / one[i]) : 0;
	row.unit = TIMING_PERCENT;
	papers_row(&row, name, percent, NULL);
}

void papers_all_fence(void)
{
	static double figure[PAPERS_WAYS][TIMING_REPS_MAX];
	void **all = perf_malloc(64 * MOST_RANKS);
	struct fences f = {.mine = perf_private(64), .theirs = (char **)all};
	const struct papers_way ways[] = {{"one", all_fence, PAPERS_ALONE, &f.clock},
		{"one-sequence", sequence, PAPERS_ALONE, &f.clock},
		{"all", all_fence, PAPERS_TOGETHER, &f.clock},
		{"all-sequence", sequence, PAPERS_TOGETHER, &f.clock}, {.name = NULL}};
	if (perf_n > MOST_RANKS)
		ARMCI_Error((char *)"papers: too many ranks to fence", perf_n);
	for (f.ranks = 1; f.ranks < perf_n; f.ranks++) {
		char shape[16];
		snprintf(shape, sizeof shape, "%d", f.ranks);
		struct perf_case c = {.op = "all-fence",
			.shape = shape,
			.unit = TIMING_NS,
			.arg = &f};
		papers_measure(&c, ways, figure);
		for (int i = 0; i < 4; i++)
			papers_row(&c, ways[i].name, figure[i], i % 2 ? NULL : figure[i + 1]);
		improvement(&c, "one-improvement", figure[0], figure[1]);
		improvement(&c, "all-improvement", figure[2], figure[3]);
	}
	free(f.mine);
	perf_free(all);
}

static void put_patches(struct papers_moving *m, size_t at)
{
	struct perf_transfer *t = &m->t;
	for (int r = 1; r < perf_n; r++)
		ARMCI_PutS(t->mine + at, t->stride, (char *)t->all[r] + at, t->stride, t->count, 1,
			r);
	ARMCI_AllFence();
}

static void put_nonblocking(struct papers_moving *m, size_t at)
{
	static armci_hdl_t handle[MOST_RANKS];
	struct perf_transfer *t = &m->t;
	for (int r = 1; r < perf_n; r++) {
		ARMCI_INIT_HANDLE(&handle[r]);
		ARMCI_NbPutS(t->mine + at, t->stride, (char *)t->all[r] + at, t->stride, t->count,
			1, r, &handle[r]);
	}
	for (int r = 1; r < perf_n; r++) ARMCI_Wait(&handle[r]);
	ARMCI_AllFence();
}

static void send_patches(struct papers_moving *m, size_t at)
{
	static MPI_Request request[2 * MOST_RANKS];
	for (int r = 1; r < perf_n; r++) {
		MPI_Irecv(NULL, 0, MPI_BYTE, r, ANSWER, MPI_COMM_WORLD, &request[r - 1]);
		MPI_Isend(m->t.mine + at, 1, m->type, r, TAG, MPI_COMM_WORLD,
			&request[perf_n - 2 + r]);
	}
	MPI_Waitall(2 * (perf_n - 1), request, MPI_STATUSES_IGNORE);
}

static void take_patch(struct papers_moving *m, size_t at)
{
	MPI_Recv(m->t.mine + at, 1, m->type, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(NULL, 0, MPI_BYTE, 0, ANSWER, MPI_COMM_WORLD);
}

#define EACH(name, call)                                                  \
	static void name(void *arg, long n)                               \
	{                                                                 \
		for (long i = 0; i < n; i++) call(arg, papers_place(arg)); \
	}
EACH(blocking, put_patches)
EACH(nonblocking, put_nonblocking)
EACH(messages, (perf_me == 0 ? send_patches : take_patch))

// The corner of the last patch must be there, everywhere.
static void check_patches(struct papers_moving *m, int n)
{
	size_t corner = ((size_t)(n - 1) * PAPERS_LEADING + (size_t)n - 1) * sizeof(double);
	if (perf_me == 0) {
		*(double *)(void *)(m->t.mine + corner) = n;
		put_nonblocking(m, 0);
	}
	ARMCI_Barrier();
	double got = perf_me == 0 ? n : *(double *)(void *)((char *)m->t.all[perf_me] + corner);
	perf_check("one-to-all", perf_total(got), (double)n * perf_n);
}

void papers_one_to_all(void)
{
	static const struct papers_way ways[] = {{"put", blocking, PAPERS_ALONE, NULL},
		{"put-nonblocking", nonblocking, PAPERS_ALONE, NULL},
		{"mpi", messages, PAPERS_MPI, NULL}, {.name = NULL}};
	if (perf_n < 2 || perf_n > MOST_RANKS) {
		if (perf_me == 0)
			fprintf(stderr, "papers: one-to-all needs 2 to %d ranks\n", MOST_RANKS);
		return;
	}
	struct papers_moving m = papers_moving();
	for (int n = 16; n <= LARGEST; n *= perf_quick ? 32 : 2) {
		char shape[32];
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		struct perf_case c = {.op = "one-to-all",
			.shape = shape,
			.bytes = 8.0 * n * n,
			.ops = perf_n - 1,
			.unit = TIMING_MBS,
			.arg = &m};
		papers_patches(&m, n);
		papers_contest(&c, ways, "mpi");
	}
	check_patches(&m, LARGEST);
	papers_moving_end(&m);
}
