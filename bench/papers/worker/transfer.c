// SPDX-License-Identifier: BSD-3-Clause
// Bandwidth beside messages of the MPI (paper 000 fig. 14-17, paper 001 fig. 8-11, paper 002 fig.
// 4): contiguous data and n by n patches of an array of doubles, which the MPI moves as a derived
// type. Consecutive accesses use other memory. `mpi` is half the time there and back, as the papers
// have it; `mpi-answered` waits for an empty answer after each message, so that the sender knows
// what it knows after a put and a fence.
#include "papers.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 4 << 20, LARGEST = 512 };

PAPERS_MOVING(get, ARMCI_Get(theirs, mine, t->count[0], perf_peer))
PAPERS_MOVING(put, ARMCI_Put(mine, theirs, t->count[0], perf_peer); ARMCI_Fence(perf_peer))
PAPERS_MOVING(get_strided, ARMCI_GetS(theirs, t->stride, mine, t->stride, t->count, 1, perf_peer))
PAPERS_MOVING(put_strided, ARMCI_PutS(mine, t->stride, theirs, t->stride, t->count, 1, perf_peer);
	      ARMCI_Fence(perf_peer))

static void contest(struct papers_moving *m, struct perf_case *c, perf_body g, perf_body p)
{
	bool contiguous = g == get, two = perf_n > 1;
	const struct papers_way none = {.name = "raw"};
	const struct papers_way ways[] = {{"get", g, PAPERS_ALONE, NULL},
		{"put", p, PAPERS_ALONE, NULL},
		{"mpi", two ? papers_mpi_half : NULL, PAPERS_MPI, &m->clock},
		{"mpi-answered", two ? papers_mpi_answered : NULL, PAPERS_MPI, NULL},
		contiguous ? papers_raw(m, true) : none, contiguous ? papers_raw(m, false) : none,
		{.name = NULL}};
	papers_contest(c, ways, "mpi");
}

// What has been put there comes back.
static void check(struct papers_moving *m, const char *name, perf_body g, perf_body p)
{
	double wrong = 0;
	size_t bytes = (size_t)m->t.count[0];
	if (perf_me == 0) {
		for (size_t i = 0; i < bytes; i++) m->t.mine[i] = (char)(i % 101 + 1);
		m->next = 0;
		p(m, 1);
		memset(m->t.mine, 0, bytes);
		m->next = 0;
		g(m, 1);
		for (size_t i = 0; i < bytes; i++) wrong += m->t.mine[i] != (char)(i % 101 + 1);
	}
	perf_check(name, perf_total(wrong), 0);
}

void papers_transfer(void)
{
	struct papers_moving m = papers_moving();
	for (int bytes = 8; bytes <= (int)perf_pace(64 << 10, MOST); bytes *= bytes == 8 ? 8 :
			perf_quick                                                       ? 32 :
											   4) {
		struct perf_case c = {.op = "transfer",
			.shape = "-",
			.bytes = bytes,
			.unit = TIMING_MBS,
			.arg = &m};
		papers_contiguous(&m, bytes);
		contest(&m, &c, get, put);
	}
	check(&m, "transfer", get, put);
	papers_moving_end(&m);
}

void papers_transfer_strided(void)
{
	struct papers_moving m = papers_moving();
	for (int n = 16; n <= LARGEST; n *= perf_quick ? 32 : 2) {
		char shape[32];
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		struct perf_case c = {.op = "transfer-strided",
			.shape = shape,
			.bytes = 8.0 * n * n,
			.unit = TIMING_MBS,
			.arg = &m};
		papers_patches(&m, n);
		contest(&m, &c, get_strided, put_strided);
	}
	check(&m, "transfer-strided", get_strided, put_strided); // the first row of a patch
	papers_moving_end(&m);
}
