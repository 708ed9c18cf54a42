// SPDX-License-Identifier: BSD-3-Clause
// tsc.c - prints how often a second, in thousands, this machine's time stamp counter counts: an
// emulated guest sees the same counter, and its clock would go wrong if it measured that itself on
// a busy machine. It needs 50 ms.
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
	double begin = now(), end;
	unsigned long long first = __rdtsc();
	do
		end = now();
	while (end - begin < 0.05);
	printf("%.0f\n", (double)(__rdtsc() - first) / (end - begin) / 1000);
	return 0;
}
