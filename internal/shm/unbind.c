// SPDX-License-Identifier: BSD-3-Clause
// Lets threads of the library leave the core to which a launcher has bound the process, where they
// would compete with the computing thread. The application's threads stay where they are.
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
	// the kernel reduces it to what the control group allows
	if (sched_setaffinity(0, sizeof all, (cpu_set_t *)all) != 0)
		return errno;
	unbound = true;
	return 0;
}
