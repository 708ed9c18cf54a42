// SPDX-License-Identifier: BSD-3-Clause
// The groups of the worker of the papers: what each figure and table of them needs is in a file of its own.
#include "papers.h"

void papers_latency(void);

const struct perf_group bench_papers[] = {
	{"latency", papers_latency}, // 000 table 1, 001 table 2
	{NULL, NULL},
};
