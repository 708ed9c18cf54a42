// SPDX-License-Identifier: BSD-3-Clause
// What the worker that is installed leaves out, and the worker of bench/ has: baselines, more
// groups.
#include "perf.h"

const struct perf_group *const perf_more[] = {NULL};

bool perf_baseline(struct perf_case *c, int k)
{
	(void)c;
	(void)k;
	return false;
}

void perf_begin(int *argc, char **argv)
{
	(void)argc;
	(void)argv;
}

void perf_overlap_baseline(struct perf_overlap *o) { (void)o; }
void perf_ready(void) {}
void perf_end(void) {}
