// SPDX-License-Identifier: BSD-3-Clause
// Disturbs whatever else runs: takes each core that it may use for some time out of every period,
// one core after the other, until its standard input ends. Between its turns it sleeps.
//
//   disturb [BUSY_US [PERIOD_US]]     default: 1000 out of every 10000
//
// The time is processor time: where the core is shared a turn takes longer. It needs nothing of the
// library.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000 };

static long busy = 1000, period = 10000; // us
static long start; // ns

struct core {
	int number; // of the core
	long phase; // ns behind the start
};

static long nanoseconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void compute(long ns)
{
	long end = nanoseconds(CLOCK_THREAD_CPUTIME_ID) + ns;
	while (nanoseconds(CLOCK_THREAD_CPUTIME_ID) < end) {
	}
}

static void *disturb(void *arg)
{
	struct core *c = arg;
	long next = start + c->phase;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(c->number, &one);
	pthread_setaffinity_np(pthread_self(), sizeof one, &one);
	for (;;) {
		struct timespec at = {next / SECOND, next % SECOND};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		compute(busy * 1000);
		do next += period * 1000; // a turn that was missed is not made up for
		while (next <= nanoseconds(CLOCK_MONOTONIC));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct core cores[CPU_SETSIZE];
	pthread_t thread;
	cpu_set_t allowed;
	int count = 0;
	char byte;
	busy = argc > 1 ? atol(argv[1]) : busy;
	period = argc > 2 ? atol(argv[2]) : period;
	if (busy < 1 || period <= busy || argc > 3) {
		fprintf(stderr, "usage: disturb [BUSY_US [PERIOD_US]], BUSY_US the less\n");
		return 2;
	}
	sched_getaffinity(0, sizeof allowed, &allowed);
	start = nanoseconds(CLOCK_MONOTONIC);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &allowed))
			continue;
		cores[count].number = i;
		cores[count].phase = period * 1000 * count / CPU_COUNT(&allowed);
		if (pthread_create(&thread, NULL, disturb, &cores[count++]) != 0) {
			perror("disturb: thread");
			return 1;
		}
	}
	while (read(0, &byte, 1) > 0) {
	}
	return 0;
}
