// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a node at the same time: accumulates into one array, on parts of their own and on the
// same elements, whose sums must come out exact; and allocation of new pages, in a job that keeps
// none (ARMCI_SHM_KEEP=0), beside what the kernel takes to populate as much of a memory file and to
// take it back, the plain way, a page fault for every page.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { BYTES = 1 << 20 };

struct sum {
	double *mine, *theirs, scale;
	int bytes;
	double done; // accumulates that this rank has made
};

static void acc(void *arg, long n)
{
	struct sum *s = arg;
	for (long i = 0; i < n; i++)
		ARMCI_Acc(ARMCI_ACC_DBL, &s->scale, s->mine, s->theirs, s->bytes, 0);
	s->done += (double)n;
}

// A loop without a lock on the second half of the array: it loses sums.
static void add_elsewhere(void *arg, long n)
{
	struct sum *s = arg;
	for (long i = 0; i < n; i++) {
		bench_add(s->theirs + s->bytes / 8, s->mine, s->bytes / 8);
		bench_opaque(s);
	}
}

// Each rank adds to its own part of one array, and for comparison rank 0 alone to its part.
static void neighbours(double *array, double *mine)
{
	int bytes = BYTES / perf_n / 8 * 8;
	struct sum s = {.mine = mine,
		.theirs = array + (long)perf_me * (bytes / 8),
		.bytes = bytes,
		.scale = 1};
	double alone[TIMING_REPS_MAX], together[TIMING_REPS_MAX];
	long n = (long)(perf_pace(0.001, 0.02) * 2e10 / bytes) + 1;
	for (int i = 0; i < perf_reps; i++) {
		ARMCI_Barrier();
		double begin = timing_now();
		if (perf_me == 0)
			acc(&s, n);
		alone[i] = (double)n * bytes / (timing_now() - begin) / 1e6;
		ARMCI_Barrier();
		begin = timing_now();
		acc(&s, n);
		together[i] = (double)n * bytes * perf_n / perf_elapsed(begin, timing_now()) / 1e6;
	}
	struct perf_case c = {.op = "acc-neighbours",
		.shape = "all/one",
		.bytes = bytes,
		.unit = TIMING_MBS};
	perf_figures(&c, together, alone, perf_reps);
	perf_check("acc-neighbours", *s.theirs, s.done);
	ARMCI_Barrier();
	for (int i = 0; i < bytes / 8; i++) s.theirs[i] = 0;
	ARMCI_Barrier();
}

static void same_array(double *array, double *mine)
{
	struct sum s = {.mine = mine, .theirs = array, .bytes = BYTES, .scale = 1};
	struct perf_case c = {.op = "acc-same-array",
		.shape = "-",
		.bytes = BYTES,
		.unit = TIMING_MBS,
		.ours = acc,
		.raw = add_elsewhere,
		.arg = &s};
	perf_all(&c);
	ARMCI_Barrier();
	double want = perf_total(s.done), worst = want;
	for (int i = 0; i < BYTES / 8; i++)
		if (array[i] != want)
			worst = array[i];
	perf_check("acc-same-array", worst, want);
}

void perf_acc_together(void)
{
	void **all = perf_malloc(2 * BYTES);
	double *mine = perf_private(BYTES);
	for (int i = 0; i < BYTES / 8; i++) mine[i] = 1;
	neighbours(all[0], mine);
	same_array(all[0], mine);
	free(mine);
	perf_free(all);
}

struct pages {
	void **all; // addresses of one allocation
	int fd;
	char *at; // the memory file, mapped
	double get, give; // seconds
};

// A call of each kind; all ranks begin each at the same time.
#define TIMED(clock, call)                           \
	do {                                         \
		bench_gate_pass(bench_gate());       \
		double begin = timing_now();           \
		call;                                \
		p->clock += timing_now() - begin;      \
	} while (0)

static void new_pages(void *arg, long n)
{
	struct pages *p = arg;
	for (long i = 0; i < n; i++) {
		TIMED(get, ARMCI_Malloc(p->all, BYTES));
		TIMED(give, ARMCI_Free(p->all[perf_me]));
	}
}

static void populate_punch(void *arg, long n)
{
	struct pages *p = arg;
	for (long i = 0; i < n; i++) {
		bool ok = true;
		TIMED(get,
			ok = madvise(p->at, BYTES, MADV_POPULATE_WRITE) == 0 ||
				fallocate(p->fd, 0, 0, BYTES) == 0);
		perf_need(ok, "populate");
		TIMED(give,
			ok = fallocate(p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
				     BYTES) == 0);
		perf_need(ok, "punch a hole");
	}
}

void perf_memory_new(void)
{
	struct pages p = {.all = calloc((size_t)perf_n, sizeof(void *)),
		.fd = memfd_create("perf", MFD_CLOEXEC)};
	perf_need(p.fd >= 0 && ftruncate(p.fd, BYTES) == 0, "memory file");
	p.at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p.fd, 0);
	perf_need(p.at != MAP_FAILED, "map the memory file");
	struct perf_case c = {.op = "malloc-new",
		.shape = "-",
		.bytes = BYTES,
		.unit = TIMING_NS,
		.ours = new_pages,
		.raw = populate_punch,
		.arg = &p,
		.clock = &p.get,
		.raw_clock = &p.get};
	perf_all(&c);
	c.op = "free-new", c.clock = c.raw_clock = &p.give;
	perf_all(&c);
	munmap(p.at, BYTES);
	close(p.fd);
	free(p.all);
}
