// SPDX-License-Identifier: BSD-3-Clause
// What the library costs while it is not used: processor time of a process that sleeps and of one
// that waits in a barrier, resident memory.
#include <sys/resource.h>
#include <unistd.h>

#include "perf.h"

static double cpu_seconds(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void figure(const char *op, enum timing_unit unit, double value)
{
	struct perf_case c = {.op = op, .shape = "-", .unit = unit};
	value = perf_greatest(value);
	perf_figures(&c, &value, NULL, 1);
}

void perf_idle(void)
{
	double seconds = perf_pace(1, 10), cpu, begin;
	figure("resident", TIMING_MIB, perf_resident());
	ARMCI_Barrier();
	cpu = cpu_seconds();
	sleep((unsigned)seconds);
	figure("idle-asleep", TIMING_PERCENT, (cpu_seconds() - cpu) / seconds * 100);
	// The others wait in a barrier for rank 0.
	ARMCI_Barrier();
	cpu = cpu_seconds();
	begin = timing_now();
	if (perf_me == 0)
		sleep((unsigned)seconds);
	ARMCI_Barrier();
	figure("idle-in-barrier", TIMING_PERCENT,
		(cpu_seconds() - cpu) / (timing_now() - begin) * 100);
}
