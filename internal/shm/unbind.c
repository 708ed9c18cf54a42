// SPDX-License-Identifier: BSD-3-Clause
// Threads of the library off the core that a launcher bound the process to: they would fight the computing thread for
// it. The application's own threads are never touched.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "shm.h"

#define MOST_CPUS 8192 // of any kernel

static _Thread_local bool unbound;

int shm_unbind(void)
{
	if (unbound)
		return 0;
	unsigned long all[MOST_CPUS / (8 * sizeof(unsigned long))];
	memset(all, 0xff, sizeof all);
	if (sched_setaffinity(0, sizeof all, (cpu_set_t *)all) != 0) // the kernel takes what the control group allows
		return errno;
	unbound = true;
	return 0;
}
