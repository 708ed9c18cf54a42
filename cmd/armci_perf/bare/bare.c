// SPDX-License-Identifier: BSD-3-Clause
// The same kind of program without the library: prints its resident memory as the worker does, and ends.
#include <stdio.h>

void perf_resident(double *mib);

int main(void)
{
	double mib;
	perf_resident(&mib);
	printf("PERF\tresident-bare\t-\t0\t1\tMiB\t%.6g\t%.6g\t0\t0\t0\n", mib, mib);
	return 0;
}
