// SPDX-License-Identifier: BSD-3-Clause
// Memory for the measurements: that others can reach, or private. Measures nothing.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf.h"

// The two sides of a transfer do not begin at the same place in their pages: loads would seem to
// depend on the stores of the transfer before, and the figure would be that of the false
// dependence.
enum { PAGE = 4096, OFFSET = 1344 };

void perf_need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "armci_perf worker: rank %d: %s: %s\n", perf_me, what, strerror(errno));
	ARMCI_Error((char *)"armci_perf worker: cannot go on", 1);
	exit(1);
}

void **perf_malloc(size_t bytes)
{
	void **all = calloc((size_t)perf_n, sizeof *all);
	perf_need(all && ARMCI_Malloc(all, (armci_size_t)bytes) == 0, "ARMCI_Malloc");
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

void *perf_private(size_t bytes)
{
	void *p = NULL;
	perf_need(posix_memalign(&p, PAGE, bytes ? bytes : 1) == 0, "posix_memalign");
	memset(p, 1, bytes);
	return p;
}

struct perf_transfer perf_transfer(size_t bytes)
{
	struct perf_transfer t = {.all = perf_malloc(bytes), .block = perf_private(bytes + OFFSET)};
	memset(t.block, 0, bytes + OFFSET);
	t.mine = t.block + OFFSET;
	t.theirs = t.all[perf_peer];
	return t;
}

void perf_transfer_end(struct perf_transfer *t)
{
	perf_free(t->all);
	free(t->block);
}
