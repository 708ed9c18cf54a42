// SPDX-License-Identifier: BSD-3-Clause
// Lock and unlock beside a process-shared pthread mutex in the same kind of memory: alone, and all ranks at once for a
// fixed time, with each rank's share. The lock guards a plain counter, which must come out exact.
#include "perf.h"

#include <pthread.h>
#include <stdlib.h>

struct guarded {
	_Alignas(PERF_LINE) pthread_mutex_t mutex;
	_Alignas(PERF_LINE) volatile long ours;
	_Alignas(PERF_LINE) volatile long raw;
	_Alignas(PERF_LINE) _Atomic int stop;
};

static void lock_pair(void *arg, long n)
{
	struct guarded *g = arg;
	for (long i = 0; i < n; i++) {
		ARMCI_Lock(0, 0);
		g->ours++;
		ARMCI_Unlock(0, 0);
	}
}

static void raw_pair(void *arg, long n)
{
	struct guarded *g = arg;
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&g->mutex);
		g->raw++;
		pthread_mutex_unlock(&g->mutex);
	}
}

static void init_mutex(pthread_mutex_t *m)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &a);
	pthread_mutexattr_destroy(&a);
}

// Everybody locks and unlocks until rank 0's time is over. Returns how often this rank did.
static double compete(struct guarded *g, perf_body pair, double seconds)
{
	double made = 0, end;
	g->stop = 0;
	ARMCI_Barrier();
	end = perf_now() + seconds;
	while (!atomic_load_explicit(&g->stop, memory_order_relaxed)) {
		pair(g, 16);
		made += 16;
		if (perf_me == 0 && perf_now() >= end)
			g->stop = 1;
	}
	ARMCI_Barrier();
	return made;
}

// One period of competition: the rate of all, and the smallest share (1 = exactly fair).
static double period(struct guarded *g, perf_body pair, double seconds, double *rate, double *share)
{
	double begin = perf_now(), made = compete(g, pair, seconds), all = perf_total(made);
	*rate = all / (perf_now() - begin) / 1e6;
	*share = -perf_greatest(-made) * perf_n / all;
	return made;
}

static void contended(struct guarded *g)
{
	double rate[PERF_REPS_MAX], raw_rate[PERF_REPS_MAX], share[PERF_REPS_MAX], raw_share[PERF_REPS_MAX];
	double seconds, made = 0;
	perf_pace(&seconds, 0.02, 0.2);
	ARMCI_Barrier();
	long before = g->ours;
	ARMCI_Barrier();
	for (int i = 0; i < perf_reps; i++) {
		made += period(g, lock_pair, seconds, &rate[i], &share[i]);
		period(g, raw_pair, seconds, &raw_rate[i], &raw_share[i]);
	}
	struct perf_case c = {.op = "lock-contended", .shape = "-", .unit = PERF_MOPS};
	perf_figures(&c, rate, raw_rate, perf_reps);
	c.op = "lock-least-share", c.unit = PERF_SHARE;
	perf_figures(&c, share, raw_share, perf_reps);
	perf_check("lock", (double)(g->ours - before), perf_total(made));
}

void perf_lock(void)
{
	struct guarded *g = perf_shared(sizeof *g);
	if (perf_me == 0)
		init_mutex(&g->mutex);
	ARMCI_Create_mutexes(1);
	struct perf_case c = {.op = "lock+unlock", .shape = "-", .unit = PERF_NS, .ours = lock_pair, .raw = raw_pair, .arg = g};
	perf_solo(&c);
	if (perf_n > 1)
		contended(g);
	ARMCI_Destroy_mutexes();
	perf_shared_free(g);
}
