// SPDX-License-Identifier: BSD-3-Clause
// A thousand doubles at nonadjacent places (paper 000 fig. 20): a nonblocking call each, the same
// calls with an aggregate handle, and one vector operation; beside it one message of an indexed
// type. The time of all thousand; puts end in a fence.
#include <string.h>

#include "papers.h"

enum { COUNT = 1000, APART = 17 };

static void *here[COUNT], *there[COUNT]; // places of the double on both sides
static armci_hdl_t handle[COUNT];
static armci_giov_t put_list = {.src_ptr_array = here,
	.dst_ptr_array = there,
	.ptr_array_len = COUNT,
	.bytes = 8};
static armci_giov_t get_list = {.src_ptr_array = there,
	.dst_ptr_array = here,
	.ptr_array_len = COUNT,
	.bytes = 8};

static void one(bool put, int k, armci_hdl_t *h)
{
	if (put)
		ARMCI_NbPut(here[k], there[k], sizeof(double), perf_peer, h);
	else
		ARMCI_NbGet(there[k], here[k], sizeof(double), perf_peer, h);
}

static void each(bool put)
{
	for (int k = 0; k < COUNT; k++) {
		ARMCI_INIT_HANDLE(&handle[k]);
		one(put, k, &handle[k]);
	}
	for (int k = 0; k < COUNT; k++) ARMCI_Wait(&handle[k]);
}

static void aggregate(bool put)
{
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	ARMCI_SET_AGGREGATE_HANDLE(&h);
	for (int k = 0; k < COUNT; k++) one(put, k, &h);
	ARMCI_Wait(&h);
	ARMCI_UNSET_AGGREGATE_HANDLE(&h);
}

PERF_BODY(put_each, each(true); ARMCI_Fence(perf_peer))
PERF_BODY(put_aggregate, aggregate(true); ARMCI_Fence(perf_peer))
PERF_BODY(put_vector, ARMCI_PutV(&put_list, 1, perf_peer); ARMCI_Fence(perf_peer))
PERF_BODY(get_each, each(false))
PERF_BODY(get_aggregate, aggregate(false))
PERF_BODY(get_vector, ARMCI_GetV(&get_list, 1, perf_peer))

// What a way puts must come back by the same way of getting.
static double differences(perf_body put, perf_body get, int seed)
{
	double wrong = 0;
	for (int k = 0; k < COUNT; k++) *(double *)here[k] = seed + k;
	put(NULL, 1);
	for (int k = 0; k < COUNT; k++) *(double *)here[k] = 0;
	get(NULL, 1);
	for (int k = 0; k < COUNT; k++) wrong += *(double *)here[k] != seed + k;
	return wrong;
}

static void message_type(struct papers_moving *m)
{
	static int at[COUNT];
	for (int k = 0; k < COUNT; k++) at[k] = k * APART;
	MPI_Type_create_indexed_block(COUNT, 1, at, MPI_DOUBLE, &m->type);
	MPI_Type_commit(&m->type);
	m->elements = 1;
}

void papers_aggregation(void)
{
	struct papers_moving m = papers_moving();
	papers_contiguous(&m, COUNT * APART * 8);
	message_type(&m);
	m.places = 1; // the same thousand each time
	for (int k = 0; k < COUNT; k++) {
		here[k] = m.t.mine + (size_t)k * APART * 8;
		there[k] = m.t.theirs + (size_t)k * APART * 8;
	}
	bool two = perf_n > 1;
	const struct papers_way ways[] = {{"put", put_each, PAPERS_ALONE, NULL},
		{"put-aggregate", put_aggregate, PAPERS_ALONE, NULL},
		{"put-vector", put_vector, PAPERS_ALONE, NULL},
		{"get", get_each, PAPERS_ALONE, NULL},
		{"get-aggregate", get_aggregate, PAPERS_ALONE, NULL},
		{"get-vector", get_vector, PAPERS_ALONE, NULL},
		{"mpi", two ? papers_mpi_half : NULL, PAPERS_MPI, &m.clock},
		{"mpi-answered", two ? papers_mpi_answered : NULL, PAPERS_MPI, NULL},
		{.name = NULL}};
	struct perf_case c = {.op = "aggregation",
		.shape = "1000x8",
		.bytes = 8.0 * COUNT,
		.unit = TIMING_NS,
		.arg = &m};
	papers_contest(&c, ways, NULL);
	double wrong = 0;
	if (perf_me == 0)
		wrong = differences(put_each, get_vector, 1) +
			differences(put_aggregate, get_each, 2) +
			differences(put_vector, get_aggregate, 3);
	perf_check("aggregation", perf_total(wrong), 0);
	papers_moving_end(&m);
}
