// SPDX-License-Identifier: BSD-3-Clause
// On which CPU a thread runs, moving it to another one, and what waits cost on this machine. A
// thread is moved only by itself, while it waits, and only within its own mask.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "wait.h"

_Static_assert(sizeof(cpu_set_t) == WAIT_CPUS / 8, "the size of a CPU set");

// glibc 2.35 and later read cpu_id of the thread's rseq area, which takes about a nanosecond;
// without it the kernel's vDSO tells, within 30 ns on x86.
int wait_cpu(void)
{
	int cpu = sched_getcpu();
	return cpu < WAIT_CPUS ? cpu : -1;
}

bool wait_move(const uint64_t avoid[WAIT_CPU_WORDS])
{
	cpu_set_t mask, others;
	uint64_t words[WAIT_CPU_WORDS];
	int cpu = wait_cpu();
	if (sched_getaffinity(0, sizeof mask, &mask) != 0)
		return false;
	memcpy(words, &mask, sizeof words);
	for (int i = 0; i < WAIT_CPU_WORDS; i++) words[i] &= ~avoid[i];
	if (cpu >= 0)
		words[cpu / 64] &= ~(1ull << (cpu % 64));
	memcpy(&others, words, sizeof others);
	if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0)
		return false;
	sched_setaffinity(0, sizeof mask, &mask);
	return true;
}

enum { ROUNDS = 15, LEAST_ROUNDS = 3, LIMIT = 1000000, IDLE = 20000 };

// The sleeper of the measurement: it says when it has been woken.
struct sleeper {
	_Atomic uint32_t calls; // it sleeps on this; UINT32_MAX: it ends
	_Atomic uint64_t woken; // when it last was
};

static void *sleep_and_tell(void *arg)
{
	struct sleeper *s = arg;
	const uint64_t own[WAIT_CPU_WORDS] = {0};
	wait_move(own); // waits that matter are for threads of other cores
	for (uint32_t seen = 0; seen != UINT32_MAX; seen = atomic_load(&s->calls)) {
		while (atomic_load(&s->calls) == seen) wait_sleep(&s->calls, seen, 1000);
		atomic_store(&s->woken, wait_clock());
	}
	return NULL;
}

static uint64_t wake_once(struct sleeper *s, uint32_t round, uint64_t limit)
{
	for (uint64_t begin = wait_clock(); wait_clock() - begin < IDLE;) cpu_relax();
	uint64_t begin = wait_clock(), woken;
	atomic_store(&s->calls, round);
	wait_wake(&s->calls, 1);
	while ((woken = atomic_load(&s->woken)) < begin && wait_clock() < limit) sched_yield();
	return woken < begin ? 0 : woken - begin;
}

static uint64_t median(uint64_t *x, int n)
{
	for (int i = 1; i < n; i++) {
		uint64_t v = x[i];
		int j = i;
		for (; j > 0 && x[j - 1] > v; j--) x[j] = x[j - 1];
		x[j] = v;
	}
	return x[n / 2];
}

uint64_t wait_measure_wake(void)
{
	struct sleeper s = {0, 0};
	pthread_t thread;
	sigset_t all, was;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was); // the application's signals are not for it
	int err = pthread_create(&thread, NULL, sleep_and_tell, &s);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (err)
		return 0;
	uint64_t took[ROUNDS], limit = wait_clock() + LIMIT;
	int n = 0;
	for (uint32_t round = 1; n < ROUNDS && wait_clock() < limit; round++)
		if ((took[n] = wake_once(&s, round, limit)) > 0)
			n++;
	atomic_store(&s.calls, UINT32_MAX);
	wait_wake(&s.calls, 1);
	pthread_join(thread, NULL);
	return n < LEAST_ROUNDS ? 0 : median(took, n);
}

// What the processor does alone is measured a few times: the least is without disturbance.
enum { TURNS = 7, PAUSES = 100 };

static uint64_t shorter(uint64_t best, uint64_t begin)
{
	uint64_t took = wait_clock() - begin;
	return took < best ? took : best;
}

uint32_t wait_measure_quick(void)
{
	enum { LEAST = 4, MOST = 500 };
	uint64_t best = UINT64_MAX;
	for (int turn = 0; turn < TURNS; turn++) {
		uint64_t begin = wait_clock();
		for (int i = 0; i < PAUSES; i++) cpu_relax();
		best = shorter(best, begin);
	}
	uint64_t quick = (uint64_t)WAIT_QUICK * PAUSES / (best ? best : 1);
	return quick < LEAST ? LEAST : quick > MOST ? MOST : (uint32_t)quick;
}

uint64_t wait_measure_yield(void)
{
	uint64_t best = UINT64_MAX;
	for (int turn = 0; turn < TURNS; turn++) {
		uint64_t begin = wait_clock();
		sched_yield();
		best = shorter(best, begin);
	}
	best = 2 * best; // less than two switches of threads
	if (best < WAIT_LEAST_OWN_YIELD)
		return WAIT_LEAST_OWN_YIELD;
	return best > WAIT_MOST_OWN_YIELD ? WAIT_MOST_OWN_YIELD : best;
}
