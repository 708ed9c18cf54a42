// SPDX-License-Identifier: BSD-3-Clause
// What a rank's setting is called, and whether the ranks are where a contest of settings needs
// them.
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
	const char *set[] = {getenv("ARMCI_STRIDED"), getenv("ARMCI_CONTIGUOUS")};
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

void variants_need(const char *group, bool rdma)
{
	int apart = armci_domain_my_id(ARMCI_DOMAIN_SMP) != armci_domain_id(ARMCI_DOMAIN_SMP, 0);
	if (perf_n != 2 * variants_count())
		refuse(group,
			"needs two nodes with one rank, or, with -e, one for each value, on each");
	if (perf_greatest(apart != (variants_index() < 0)) > 0)
		refuse(group,
			"needs the first half of the ranks on one node and the others on another");
	if (rdma && strcmp(network(), "rdma") != 0)
		refuse(group, "needs ARMCI_TRANSPORT=rdma");
}
