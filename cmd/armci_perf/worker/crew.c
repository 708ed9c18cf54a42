// SPDX-License-Identifier: BSD-3-Clause
// Keeps cores busy: a crew of threads, each on a core of its own, that compute until they are told to stop. They never
// call the library.
#define _GNU_SOURCE
#include "crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "perf.h"

enum { MOST = 1024 };

static pthread_t crew[MOST];
static int members;
static _Atomic bool stop;
static cpu_set_t cores;
static volatile double sink;

void perf_compute(long rounds)
{
	double x = 1;
	for (long r = 0; r < rounds; r++)
		for (int i = 0; i < 1000; i++) x = x * 1.0000001 + 1e-9;
	sink = x;
}

long perf_rounds(double seconds)
{
	const long some = 500;
	double best = 1;
	for (int i = 0; i < 5; i++) {
		double begin = perf_now();
		perf_compute(some);
		double t = perf_now() - begin;
		best = t < best ? t : best;
	}
	return (long)(seconds * (double)some / best) + 1;
}

int perf_cores(void)
{
	CPU_ZERO(&cores);
	sched_getaffinity(0, sizeof cores, &cores);
	return CPU_COUNT(&cores);
}

bool perf_one_machine(void)
{
	char id[64] = "";
	double hash = 0;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	if (f && fgets(id, sizeof id, f))
		for (char *p = id; *p; p++) hash = (double)(((long)hash * 31 + *p) % 1000000007);
	if (f)
		fclose(f);
	return perf_greatest(hash) == -perf_greatest(-hash);
}

static void *member(void *arg)
{
	long skip = (long)arg;
	cpu_set_t one;
	CPU_ZERO(&one);
	for (int c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &cores) && skip-- == 0)
			CPU_SET(c, &one);
	pthread_setaffinity_np(pthread_self(), sizeof one, &one);
	while (!stop) perf_compute(100);
	return NULL;
}

void perf_crew_start(int wanted)
{
	int here = perf_cores();
	stop = false;
	for (members = 0; members < wanted && members < here && members < MOST; members++)
		if (pthread_create(&crew[members], NULL, member, (void *)(long)members) != 0)
			abort();
}

void perf_crew_stop(void)
{
	stop = true;
	while (members > 0) pthread_join(crew[--members], NULL);
}
