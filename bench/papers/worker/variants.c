// SPDX-License-Identifier: BSD-3-Clause
// Ranks that differ in a setting take turns. Those whose turn it is not are asleep in a barrier.
#include "variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int variants_count(void) { return bench_variants > 0 ? bench_variants : 1; }

int variants_index(void) { return perf_me < variants_count() ? perf_me : -1; }

static const char *network(void)
{
	const char *set = getenv("ARMCI_TRANSPORT");
	return set && *set ? set : "tcp";
}

const char *variants_name(int i)
{
	const char *set[] = {getenv("ARMCI_RDMA_STRIDED"), getenv("ARMCI_RDMA_CONTIGUOUS")};
	if (bench_variants > 0)
		return bench_settings[i];
	for (int k = 0; k < 2; k++)
		if (set[k] && *set[k])
			return set[k];
	return network();
}

static void refuse(const char *group, const char *why)
{
	char text[160];
	snprintf(text, sizeof text, "bench worker: group %s: %s", group, why);
	ARMCI_Error(text, 2);
}

void variants_need(const char *group, const char *wanted)
{
	int apart = armci_domain_my_id(ARMCI_DOMAIN_SMP) != armci_domain_id(ARMCI_DOMAIN_SMP, 0);
	if (perf_n != 2 * variants_count())
		refuse(group, "needs two nodes with one rank, or, with -e, one for each value, on each");
	if (perf_greatest(apart != (variants_index() < 0)) > 0)
		refuse(group, "needs the first half of the ranks on one node and the others on another");
	if (wanted && strcmp(wanted, network()) != 0)
		refuse(group, "needs ARMCI_TRANSPORT=rdma");
}

int variants_list(struct variants_way *w, perf_body body, void *arg)
{
	for (int i = 0; i < variants_count(); i++) w[i] = (struct variants_way){variants_name(i), i, body, arg, NULL};
	return variants_count();
}

void variants_measure(const struct perf_case *c, const struct variants_way *w, int n, double figure[][PERF_REPS_MAX])
{
	long often[PAPERS_WAYS] = {0};
	memset(figure, 0, (size_t)n * sizeof figure[0]);
	for (int turn = 0; turn < n * (perf_reps + 1); turn++) { // the first round is to warm up
		int i = (turn + turn / n) % n, rep = turn / n;
		struct perf_case mine = *c;
		mine.ours = w[i].body, mine.arg = w[i].arg, mine.clock = w[i].clock, mine.warm = perf_pace(0, 0.005);
		ARMCI_Barrier();
		if (perf_me == w[i].rank)
			figure[i][rep > 0 ? rep - 1 : 0] = perf_sample(&mine, mine.ours, perf_pace(0.0005, 0.007), &often[i]);
	}
	ARMCI_Barrier();
	armci_msg_dgop(&figure[0][0], n * PERF_REPS_MAX, (char *)"+");
}
