/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h: what the OpenSHMEM test programs share. It must hold no test. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shmem.h>

static int me, n, right, left; /* own number, PEs, neighbours */

/* A failure ends the job with status 1. */
#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "FAIL %s:%d: PE %d of %d: %s\n", __FILE__, __LINE__, \
				me, n, #condition); \
			shmem_global_exit(1); \
		} \
	} while (0)

static inline void begin(void)
{
	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	right = (me + 1) % n;
	left = (me + n - 1) % n;
}

static inline int end(const char *name)
{
	shmem_barrier_all();
	int first = me == 0;
	shmem_finalize();
	if (first)
		printf("ok %s\n", name);
	return 0;
}

#endif
