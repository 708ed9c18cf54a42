// SPDX-License-Identifier: BSD-3-Clause
// What a process keeps in memory: resident after the start; its own, which it shares with no other;
// and its own when it has put to every other rank.
#include <stdio.h>
#include <string.h>

#include "perf.h"

// The sum of the lines of a file of /proc that begin with a text and go on with KiB; in MiB.
static double sum_of_proc_lines(const char *file, const char *begin)
{
	char line[256];
	double all = 0, kib;
	FILE *f = fopen(file, "r");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, begin, strlen(begin)) == 0) {
			const char *colon = strchr(line, ':');
			all += colon && sscanf(colon + 1, "%lf", &kib) == 1 ? kib : 0;
		}
	if (f)
		fclose(f);
	return all / 1024;
}

static void figure(const char *op, double mib)
{
	struct perf_case c = {.op = op, .shape = "-", .unit = TIMING_MIB};
	mib = perf_greatest(mib);
	perf_figures(&c, &mib, NULL, 1);
}

double perf_resident(void) { return sum_of_proc_lines("/proc/self/status", "VmRSS"); }

static double private_memory(void)
{
	return sum_of_proc_lines("/proc/self/smaps_rollup", "Private_");
}

// The group growth: each figure is that of the rank that has most.
void perf_growth(void)
{
	figure("resident", perf_resident());
	figure("own", private_memory());
	void **all = perf_malloc(sizeof(double));
	double one = 1;
	for (int i = 1; i < perf_n; i++) {
		int to = (perf_me + i) % perf_n;
		ARMCI_Put(&one, all[to], sizeof one, to);
	}
	ARMCI_AllFence();
	ARMCI_Barrier();
	perf_check("each rank was reached", perf_n > 1 ? *(double *)all[perf_me] : 1, 1);
	figure("own-used", private_memory());
	perf_free(all);
}
