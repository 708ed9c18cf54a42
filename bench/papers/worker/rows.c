// SPDX-License-Identifier: BSD-3-Clause
// Patches of an array of doubles by one strided call, row by row, and packed by the program (paper
// 000 fig. 18, paper 004 fig. 7). Row by row: a nonblocking call for each row, then all waits.
// Packed: pack, one contiguous transfer, unpack; what the far side would have to do, pack for a get
// and unpack for a put, is done here on as much memory, since the far side of a one-sided program
// does nothing: its time counts, what it takes to tell the far side does not. Puts end in a fence.
#include "papers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 512 };

static char *packed; // on this side; the far side's is the beginning of its array
static armci_hdl_t handle[LARGEST];

PAPERS_MOVING(get, ARMCI_GetS(theirs, t->stride, mine, t->stride, t->count, 1, perf_peer))
PAPERS_MOVING(put, ARMCI_PutS(mine, t->stride, theirs, t->stride, t->count, 1, perf_peer);
	      ARMCI_Fence(perf_peer))

static void each_row(const struct perf_transfer *t, char *mine, char *theirs, bool is_put)
{
	int apart = t->stride[0], bytes = t->count[0], rows = t->count[1];
	for (int k = 0; k < rows; k++) {
		char *here = mine + k * apart, *there = theirs + k * apart;
		ARMCI_INIT_HANDLE(&handle[k]);
		if (is_put)
			ARMCI_NbPut(here, there, bytes, perf_peer, &handle[k]);
		else
			ARMCI_NbGet(there, here, bytes, perf_peer, &handle[k]);
	}
	for (int k = 0; k < rows; k++) ARMCI_Wait(&handle[k]);
}

PAPERS_MOVING(get_rows, each_row(t, mine, theirs, false))
PAPERS_MOVING(put_rows, each_row(t, mine, theirs, true); ARMCI_Fence(perf_peer))

static void pack(const struct perf_transfer *t, char *to, const char *from)
{
	size_t bytes = (size_t)t->count[0];
	for (int k = 0; k < t->count[1]; k++)
		memcpy(to + (size_t)k * bytes, from + k * t->stride[0], bytes);
	bench_opaque(to);
}

static void unpack(const struct perf_transfer *t, char *to, const char *from)
{
	size_t bytes = (size_t)t->count[0];
	for (int k = 0; k < t->count[1]; k++)
		memcpy(to + k * t->stride[0], from + (size_t)k * bytes, bytes);
	bench_opaque(to);
}

static void get_all(struct perf_transfer *t, char *mine)
{
	pack(t, packed, mine); // for the far side
	ARMCI_Get(t->theirs, packed, t->count[0] * t->count[1], perf_peer);
	unpack(t, mine, packed);
}

static void put_all(struct perf_transfer *t, char *mine)
{
	pack(t, packed, mine);
	ARMCI_Put(packed, t->theirs, t->count[0] * t->count[1], perf_peer);
	ARMCI_Fence(perf_peer);
	unpack(t, mine, packed); // for the far side
}

PAPERS_MOVING(get_packed, (void)theirs; get_all(t, mine))
PAPERS_MOVING(put_packed, (void)theirs; put_all(t, mine))

static const struct papers_way get_ways[] = {{"get", get, PAPERS_ALONE, NULL},
	{"get-rows", get_rows, PAPERS_ALONE, NULL}, {"get-packed", get_packed, PAPERS_ALONE, NULL},
	{.name = NULL}};
static const struct papers_way put_ways[] = {{"put", put, PAPERS_ALONE, NULL},
	{"put-rows", put_rows, PAPERS_ALONE, NULL}, {"put-packed", put_packed, PAPERS_ALONE, NULL},
	{.name = NULL}};

// The patch's diagonal comes back as it was put, at the same place.
static double differences(struct papers_moving *m, perf_body put_by, perf_body get_by, int seed)
{
	double wrong = 0, *mine = (double *)(void *)m->t.mine;
	int n = m->t.count[1];
	for (int i = 0; i < n; i++) mine[i * PAPERS_LEADING + i] = seed + i;
	m->next = 0;
	put_by(m, 1);
	for (int i = 0; i < n; i++) mine[i * PAPERS_LEADING + i] = 0;
	m->next = 0;
	get_by(m, 1);
	for (int i = 0; i < n; i++) wrong += mine[i * PAPERS_LEADING + i] != seed + i;
	return wrong;
}

void papers_rows(void)
{
	struct papers_moving m = papers_moving();
	packed = perf_private(LARGEST * LARGEST * sizeof(double));
	for (int n = 16; n <= LARGEST; n *= perf_quick ? 16 : 2) {
		char shape[32];
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		struct perf_case c = {.op = "rows",
			.shape = shape,
			.bytes = 8.0 * n * n,
			.unit = TIMING_MBS,
			.arg = &m};
		papers_patches(&m, n);
		papers_contest(&c, get_ways, "get-rows");
		papers_contest(&c, put_ways, "put-rows");
	}
	double wrong = 0;
	if (perf_me == 0)
		wrong = differences(&m, put_rows, get, 1) + differences(&m, put, get_rows, 2) +
			differences(&m, put_packed, get_packed, 3);
	perf_check("rows", perf_total(wrong), 0);
	free(packed);
	papers_moving_end(&m);
}
