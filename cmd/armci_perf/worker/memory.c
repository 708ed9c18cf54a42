// SPDX-License-Identifier: BSD-3-Clause
// Memory for the benchmarks: shared by all ranks, remotely accessible, or private. Measures nothing.
#define _GNU_SOURCE
#include "perf.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void give_up(const char *what)
{
	fprintf(stderr, "perf worker: rank %d: %s failed\n", perf_me, what);
	ARMCI_Error("perf worker: out of memory", 1);
	exit(1);
}

void **perf_malloc(size_t bytes)
{
	void **all = calloc((size_t)perf_n, sizeof *all);
	if (!all || ARMCI_Malloc(all, (armci_size_t)bytes) != 0)
		give_up("ARMCI_Malloc");
	memset(all[perf_me], 0, bytes);
	ARMCI_Barrier();
	return all;
}

void perf_free(void **all)
{
	ARMCI_Barrier();
	ARMCI_Free(all[perf_me]);
	free(all);
}

// Only rank 0 allocates; the address is good in all ranks, since all are on one node.
void *perf_shared(size_t bytes)
{
	void **all = calloc((size_t)perf_n, sizeof *all);
	if (!all || ARMCI_Malloc(all, perf_me == 0 ? (armci_size_t)bytes : 0) != 0)
		give_up("ARMCI_Malloc");
	void *p = all[0];
	if (perf_me == 0)
		memset(p, 0, bytes);
	free(all);
	ARMCI_Barrier();
	return p;
}

void perf_shared_free(void *p)
{
	ARMCI_Barrier();
	ARMCI_Free(perf_me == 0 ? p : NULL);
}

void *perf_private(size_t bytes)
{
	void *p = NULL;
	if (posix_memalign(&p, 4096, bytes ? bytes : 1) != 0)
		give_up("posix_memalign");
	memset(p, 1, bytes);
	return p;
}

void perf_yield(void) { sched_yield(); }
