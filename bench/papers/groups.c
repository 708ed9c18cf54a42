// SPDX-License-Identifier: BSD-3-Clause
// The groups of the worker of the papers: what each figure and table of them needs is in a file of its own.
#include "papers.h"

void papers_latency(void);
void papers_transfer(void);
void papers_transfer_strided(void);
void papers_rows(void);
void papers_overhead(void);
void papers_registration(void);
void papers_get_schemes(void);

const struct perf_group bench_papers[] = {
	{"latency", papers_latency},                   // 000 table 1, 001 table 2
	{"transfer", papers_transfer},                 // 000 fig. 14-17, 001 fig. 8-11, 002 fig. 4
	{"transfer-strided", papers_transfer_strided}, // 001 fig. 8-11
	{"rows", papers_rows},                         // 000 fig. 18, 004 fig. 7
	{"overhead", papers_overhead},                 // 004 section 5
#ifdef PERF_VERBS
	{"registration", papers_registration}, // 001 fig. 2
	{"get-schemes", papers_get_schemes},   // 001 fig. 6 and 7, 002 fig. 3
#endif
	{NULL, NULL},
};
