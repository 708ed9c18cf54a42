// SPDX-License-Identifier: BSD-3-Clause
// How much memory this process holds, by /proc. Used by the worker and by the program without the library alike.
#include <stdio.h>

void perf_resident(double *mib);

void perf_resident(double *mib)
{
	char line[256];
	long kib = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmRSS: %ld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	*mib = (double)kib / 1024;
}
