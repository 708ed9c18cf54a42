// SPDX-License-Identifier: BSD-3-Clause
// Patches of an array of doubles by one strided call, row by row, and packed by the program (paper 000 fig. 18, paper 004
// fig. 7). Row by row: a nonblocking call for each row, then all waits. Packed: pack, one contiguous transfer, unpack; what
// the far side would have to do, pack for a get and unpack for a put, is done here on as much memory, since a one-sided
// program has nobody there to do it: its time counts, what it takes to tell the far side does not. Puts end in a fence.
#include "papers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 512 };

static char *packed; // on this side; the far side's is the beginning of its array
static armci_hdl_t handle[LARGEST];

static void get(struct papers_moving *m, char *mine, char *theirs)
{
	ARMCI_GetS(theirs, m->t.stride, mine, m->t.stride, m->t.count, 1, perf_peer);
}

static void put(struct papers_moving *m, char *mine, char *theirs)
{
	ARMCI_PutS(mine, m->t.stride, theirs, m->t.stride, m->t.count, 1, perf_peer);
	ARMCI_Fence(perf_peer);
}

static void wait_rows(int rows)
{
	for (int k = 0; k < rows; k++) ARMCI_Wait(&handle[k]);
}

static void get_rows(struct papers_moving *m, char *mine, char *theirs)
{
	int apart = m->t.stride[0], bytes = m->t.count[0], rows = m->t.count[1];
	for (int k = 0; k < rows; k++) {
		ARMCI_INIT_HANDLE(&handle[k]);
		ARMCI_NbGet(theirs + k * apart, mine + k * apart, bytes, perf_peer, &handle[k]);
	}
	wait_rows(rows);
}

static void put_rows(struct papers_moving *m, char *mine, char *theirs)
{
	int apart = m->t.stride[0], bytes = m->t.count[0], rows = m->t.count[1];
	for (int k = 0; k < rows; k++) {
		ARMCI_INIT_HANDLE(&handle[k]);
		ARMCI_NbPut(mine + k * apart, theirs + k * apart, bytes, perf_peer, &handle[k]);
	}
	wait_rows(rows);
	ARMCI_Fence(perf_peer);
}

static void pack(const struct papers_moving *m, char *to, const char *from)
{
	size_t bytes = (size_t)m->t.count[0];
	for (int k = 0; k < m->t.count[1]; k++) memcpy(to + (size_t)k * bytes, from + k * m->t.stride[0], bytes);
	bench_opaque(to);
}

static void unpack(const struct papers_moving *m, char *to, const char *from)
{
	size_t bytes = (size_t)m->t.count[0];
	for (int k = 0; k < m->t.count[1]; k++) memcpy(to + k * m->t.stride[0], from + (size_t)k * bytes, bytes);
	bench_opaque(to);
}

static void get_packed(struct papers_moving *m, char *mine, char *theirs)
{
	(void)theirs;
	pack(m, packed, mine); // for the far side
	ARMCI_Get(m->t.theirs, packed, m->t.count[0] * m->t.count[1], perf_peer);
	unpack(m, mine, packed);
}

static void put_packed(struct papers_moving *m, char *mine, char *theirs)
{
	(void)theirs;
	pack(m, packed, mine);
	ARMCI_Put(packed, m->t.theirs, m->t.count[0] * m->t.count[1], perf_peer);
	ARMCI_Fence(perf_peer);
	unpack(m, mine, packed); // for the far side
}

#define EACH(name, call)                                                             \
	static void name(void *arg, long n)                                          \
	{                                                                            \
		struct papers_moving *m = arg;                                       \
		for (long i = 0; i < n; i++) {                                       \
			size_t at = papers_place(m);                                 \
			call(m, m->t.mine + at, m->t.theirs + at);                   \
		}                                                                    \
	}
EACH(gets, get)
EACH(puts_, put)
EACH(gets_rows, get_rows)
EACH(puts_rows, put_rows)
EACH(gets_packed, get_packed)
EACH(puts_packed, put_packed)

static const struct papers_way get_ways[] = {{"get", gets, PAPERS_ALONE, NULL}, {"get-rows", gets_rows, PAPERS_ALONE, NULL},
	{"get-packed", gets_packed, PAPERS_ALONE, NULL}, {.name = NULL}};
static const struct papers_way put_ways[] = {{"put", puts_, PAPERS_ALONE, NULL}, {"put-rows", puts_rows, PAPERS_ALONE, NULL},
	{"put-packed", puts_packed, PAPERS_ALONE, NULL}, {.name = NULL}};

// One row of each kind comes back as it was put.
static double differences(struct papers_moving *m)
{
	double wrong = 0, *mine = (double *)(void *)m->t.mine;
	int n = m->t.count[1];
	for (int i = 0; i < n; i++) mine[i * PAPERS_LEADING + i] = i + 1;
	put_rows(m, m->t.mine, m->t.theirs);
	for (int i = 0; i < n; i++) mine[i * PAPERS_LEADING + i] = 0;
	get(m, m->t.mine, m->t.theirs);
	for (int i = 0; i < n; i++) wrong += mine[i * PAPERS_LEADING + i] != i + 1;
	put(m, m->t.mine, m->t.theirs);
	for (int i = 0; i < n; i++) mine[i * PAPERS_LEADING + i] = 0;
	get_rows(m, m->t.mine, m->t.theirs);
	for (int i = 0; i < n; i++) wrong += mine[i * PAPERS_LEADING + i] != i + 1;
	return wrong;
}

void papers_rows(void)
{
	struct papers_moving m = papers_moving();
	packed = perf_private(LARGEST * LARGEST * sizeof(double));
	for (int n = 16; n <= LARGEST; n *= perf_quick ? 16 : 2) {
		char shape[32];
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		struct perf_case c = {.op = "rows", .shape = shape, .bytes = 8.0 * n * n, .unit = PERF_MBS, .arg = &m};
		papers_patches(&m, n);
		papers_contest(&c, get_ways, "get-rows");
		papers_contest(&c, put_ways, "put-rows");
	}
	perf_check("rows", perf_total(perf_me == 0 ? differences(&m) : 0), 0);
	free(packed);
	papers_moving_end(&m);
}
