// SPDX-License-Identifier: BSD-3-Clause
// Contiguous gets by each protocol that ARMCI_CONTIGUOUS forces (001 fig. 6 and 7, 002 fig.
// 3), consecutive ones of other memory at both sides, which is new for each size, beside one raw
// read after the other; and the performance models of paper 002 (models.c), fed with the rates of
// copying, registering and reading of the same repetition. The ranks of a node differ in the
// setting (-e) and take turns. With `zerocopy` memory stays registered, as far as the cache has
// room.
#ifdef PERF_VERBS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"
#include "rates.h"
#include "variants.h"

enum { MOST = 4 << 20, OFFSET = 1344 };

struct gets {
	char *mine, *theirs;
	int bytes;
	size_t next;
};

static void get(void *arg, long n)
{
	struct gets *g = arg;
	for (long i = 0; i < n; i++) {
		size_t at = rates_place((size_t)g->bytes, &g->next);
		ARMCI_Get(g->theirs + at, g->mine + at, g->bytes, perf_peer);
	}
}

static char pattern(size_t at) { return (char)(at % 251 + at / 4096); }

// What each of the settings gets at the next places is what is there.
static void check(struct gets *g)
{
	char name[64];
	double wrong = 0;
	size_t bytes = (size_t)g->bytes;
	for (int i = 0; i < 2 && variants_index() >= 0; i++) {
		size_t at = g->next;
		memset(g->mine + at, 0, bytes);
		get(g, 1);
		for (size_t k = at; k < at + bytes; k++) wrong += g->mine[k] != pattern(k);
	}
	snprintf(name, sizeof name, "get-schemes/%d", g->bytes);
	perf_check(name, perf_total(wrong), 0);
}

static void contest(struct gets *g, struct rates *r)
{
	static double figure[RDMA_WAYS][TIMING_REPS_MAX];
	struct rdma_way way[RDMA_WAYS];
	struct perf_case c = {.op = "get-schemes",
		.shape = "-",
		.bytes = g->bytes,
		.unit = TIMING_MBS,
		.warm = perf_pace(0, 0.005)};
	int n = 0, raw = variants_count();
	for (; n < raw; n++) way[n] = (struct rdma_way){variants_name(n), n, get, g, NULL, 0};
	way[n++] = (struct rdma_way){"raw", 0, rates_read, r, NULL, 0};
	way[n++] = (struct rdma_way){"copy", 0, rates_copy, r, NULL, 0};
	way[n++] = (struct rdma_way){"registration", 0, rates_both, r, NULL, 0};
	rdma_turns(&c, way, n, perf_pace(0.0005, 0.007), figure, NULL);
	for (int i = 0; i < n; i++)
		papers_row(&c, way[i].name, figure[i], i < raw ? figure[raw] : NULL);
	models_rows(&c, way, n, figure);
	check(g);
}

void papers_get_schemes(void)
{
	variants_need("get-schemes", true);
	void **all = perf_malloc(rates_space());
	struct gets g = {.theirs = all[perf_peer]};
	struct rates r;
	rates_open(&r, true);
	for (size_t i = 0; i < rates_space() && variants_index() < 0; i++)
		((char *)all[perf_me])[i] = pattern(i);
	models_of_paper("get-schemes");
	for (g.bytes = 1 << 10; g.bytes <= (int)perf_pace(256 << 10, MOST);
		g.bytes *= perf_quick ? 16 : 4) {
		char *block = variants_index() >= 0 ? perf_private(rates_space() + OFFSET) : NULL;
		g.mine = block + (block ? OFFSET : 0);
		g.next = r.next = 0;
		r.bytes = (size_t)g.bytes;
		contest(&g, &r);
		free(block);
	}
	rates_close(&r);
	perf_free(all);
}
#endif
