// SPDX-License-Identifier: BSD-3-Clause
// Keeps cores busy: threads, each on a core of its own, that compute until they are told to stop.
// They never call the library.
#define _GNU_SOURCE
#include "load.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "perf.h"

enum { MOST = 1024 };

static pthread_t threads[MOST];
static int running;
static _Atomic bool stop;
static cpu_set_t cores;

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

static void *load(void *arg)
{
	long skip = (long)arg;
	cpu_set_t one;
	CPU_ZERO(&one);
	for (int c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &cores) && skip-- == 0)
			CPU_SET(c, &one);
	pthread_setaffinity_np(pthread_self(), sizeof one, &one);
	while (!stop) timing_compute(10000);
	return NULL;
}

void perf_load_start(int wanted)
{
	int here = perf_cores();
	stop = false;
	for (running = 0; running < wanted && running < here && running < MOST; running++)
		if (pthread_create(&threads[running], NULL, load, (void *)(long)running) != 0)
			abort();
}

void perf_load_stop(void)
{
	stop = true;
	while (running > 0) pthread_join(threads[--running], NULL);
}
