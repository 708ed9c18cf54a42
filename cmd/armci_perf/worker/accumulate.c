// SPDX-License-Identifier: BSD-3-Clause
// Accumulate of doubles, 8 bytes and 1 MiB, beside a vectorised loop without any lock; and all ranks accumulating into
// one array at once, on parts of their own and on the same elements, whose sums must come out exact.
#include "perf.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDEST __attribute__((noinline, target_clones("default", "avx2", "avx512f")))
#else
#define WIDEST __attribute__((noinline))
#endif

typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));

// The baseline: eight doubles at a time, two of those in flight, no lock.
WIDEST static void add_raw(double *to, const double *from, long n)
{
	long i = 0;
	for (; i + 16 <= n; i += 16) {
		eight *d = (eight *)(to + i);
		const eight *s = (const eight *)(from + i);
		d[0] += s[0];
		d[1] += s[1];
	}
	for (; i < n; i++) to[i] += from[i];
}

struct sum {
	double *mine, *theirs;
	int bytes, proc;
	double scale, done; // done: accumulates this rank has made
};

static void acc(void *arg, long n)
{
	struct sum *s = arg;
	for (long i = 0; i < n; i++) ARMCI_Acc(ARMCI_ACC_DBL, &s->scale, s->mine, s->theirs, s->bytes, s->proc);
	s->done += (double)n;
}

static void raw(void *arg, long n)
{
	struct sum *s = arg;
	for (long i = 0; i < n; i++) {
		add_raw(s->theirs, s->mine, s->bytes / 8);
		perf_opaque(s);
	}
}

// The same on the second half of a shared array.
static void raw_elsewhere(void *arg, long n)
{
	struct sum other = *(struct sum *)arg;
	other.theirs += other.bytes / 8;
	raw(&other, n);
}

static void fill(double *x, size_t n, double value)
{
	for (size_t i = 0; i < n; i++) x[i] = value;
}

static void one_rank(void **all, double *mine, int bytes)
{
	struct sum s = {.mine = mine, .theirs = all[perf_peer], .bytes = bytes, .proc = perf_peer, .scale = 1};
	struct perf_case c = {.op = "acc", .shape = "-", .bytes = bytes, .unit = bytes > 8 ? PERF_MBS : PERF_NS, .ours = acc,
		.raw = raw, .arg = &s};
	perf_solo(&c);
}

// Each rank adds to its own part of one array, and for comparison rank 0 alone to its part: neighbours must not slow
// each other down.
static void neighbours(double *array, double *mine, int bytes)
{
	bytes = bytes / perf_n / 8 * 8;
	struct sum s = {.mine = mine, .theirs = array + (long)perf_me * (bytes / 8), .bytes = bytes, .scale = 1};
	double alone[PERF_REPS_MAX], together[PERF_REPS_MAX], seconds;
	perf_pace(&seconds, 0.001, 0.02);
	long n = (long)(seconds * 2e10 / bytes) + 1;
	for (int i = 0; i < perf_reps; i++) {
		ARMCI_Barrier();
		double begin = perf_now();
		if (perf_me == 0)
			acc(&s, n);
		alone[i] = (double)n * bytes / (perf_now() - begin) / 1e6;
		ARMCI_Barrier();
		begin = perf_now();
		acc(&s, n);
		together[i] = (double)n * bytes * perf_n / perf_elapsed(begin, perf_now()) / 1e6;
	}
	struct perf_case c = {.op = "acc-neighbours", .shape = "all/one", .bytes = bytes, .unit = PERF_MBS};
	perf_figures(&c, together, alone, perf_reps);
	perf_check("acc-neighbours", *s.theirs, s.done);
	ARMCI_Barrier();
	fill(s.theirs, (size_t)bytes / 8, 0);
	ARMCI_Barrier();
}

// All ranks add to the same elements; the baseline does so without locks, on another array, and loses sums.
static void same_array(double *array, double *mine, int bytes)
{
	struct sum s = {.mine = mine, .theirs = array, .bytes = bytes, .scale = 1};
	struct perf_case c = {.op = "acc-same-array", .shape = "-", .bytes = bytes, .unit = PERF_MBS, .ours = acc,
		.raw = raw_elsewhere, .arg = &s};
	perf_all(&c);
	ARMCI_Barrier();
	double want = perf_total(s.done), worst = want;
	for (int i = 0; i < bytes / 8; i++)
		if (array[i] != want)
			worst = array[i];
	perf_check("acc-same-array", worst, want);
}

void perf_accumulate(void)
{
	int bytes = 1 << 20;
	void **all = perf_malloc((size_t)bytes);
	double *mine = perf_private((size_t)bytes);
	fill(mine, (size_t)bytes / 8, 1);
	one_rank(all, mine, 8);
	one_rank(all, mine, bytes);
	double *array = perf_shared(2 * (size_t)bytes);
	neighbours(array, mine, bytes);
	same_array(array, mine, bytes);
	perf_shared_free(array);
	free(mine);
	perf_free(all);
}
