// SPDX-License-Identifier: BSD-3-Clause
// The groups of the worker of the papers: what each figure and table of them needs is in a file of
// its own.
#include "papers.h"

void papers_latency(void);
void papers_transfer(void);
void papers_transfer_strided(void);
void papers_rows(void);
void papers_overlap_work(void);
void papers_aggregation(void);
void papers_all_fence(void);
void papers_one_to_all(void);
void papers_collectives(void);
void papers_get_fence(void);
void papers_overhead(void);
void papers_registration(void);
void papers_get_schemes(void);

const struct perf_group bench_papers[] = {
	{"latency", papers_latency},                   // 000 table 1, 001 table 2
	{"transfer", papers_transfer},                 // 000 fig. 14-17, 001 fig. 8-11, 002 fig. 4
	{"transfer-strided", papers_transfer_strided}, // 001 fig. 8-11
	{"rows", papers_rows},                         // 000 fig. 18, 004 fig. 7
	{"overlap-work", papers_overlap_work},         // 000 fig. 19
	{"aggregation", papers_aggregation},           // 000 fig. 20
	{"all-fence", papers_all_fence},               // 001 fig. 12
	{"one-to-all", papers_one_to_all},             // 004 fig. 6
	{"collectives", papers_collectives},
	{"mpi-get-fence", papers_get_fence}, // 001 section 4, related work
	{"overhead", papers_overhead},       // 004 section 5
#ifdef PERF_VERBS
	{"registration", papers_registration}, // 001 fig. 2
	{"get-schemes", papers_get_schemes},   // 001 fig. 6 and 7, 002 fig. 3
#endif
	{NULL, NULL},
};
