// SPDX-License-Identifier: BSD-3-Clause
// The members of a window that is made, and the memory for their exchange.
#include "plan.h"

#include <stdlib.h>

#include "_cgo_export.h"

static _Atomic bool reserve_used; // by a thread that makes a window

size_t plan_bytes(int n)
{
	struct plan *p = NULL;
	// the translation of ranks needs a list of ranks of the group, too
	return (size_t)n * (sizeof *p->cards + sizeof *p->sizes + 2 * sizeof *p->world);
}

// Takes memory for n members. Two windows that are made at a time without memory end the job: to
// wait for each other the threads of two processes may have to do so in different orders.
static void acquire(struct plan *p)
{
	p->cards = calloc(1, plan_bytes(p->n));
	p->reserved = !p->cards;
	if (p->reserved) {
		if (atomic_exchange(&reserve_used, true))
			shm.no_memory("two windows that are made at a time");
		p->cards = job.reserve;
	}
	p->sizes = (int64_t *)(p->cards + p->n);
	p->world = (int *)(p->sizes + p->n);
}

void plan_close(struct plan *p)
{
	if (p->reserved)
		atomic_store(&reserve_used, false);
	else
		free(p->cards);
}

// Fills in p->world. RMA_PASS: a member is not of the job, or not of this node, where it must be.
static int find_members(struct plan *p, bool on_node)
{
	handle everybody = 0;
	int *ranks = p->world + p->n, failed = real.Comm_group(abi.comm_world, &everybody);
	if (failed)
		return failed;
	for (int i = 0; i < p->n; i++) ranks[i] = i;
	failed = real.Group_translate_ranks(p->group, p->n, ranks, everybody, p->world);
	real.Group_free(&everybody);
	for (int i = 0; !failed && i < p->n; i++)
		if (p->world[i] == abi.undefined || (on_node && !mpirmago_here(p->world[i])))
			failed = RMA_PASS;
	return failed;
}

int plan_open(struct plan *p, handle comm, bool on_node)
{
	int failed = real.Comm_group(comm, &p->group);
	if (failed)
		return failed;
	failed = real.Group_size(p->group, &p->n);
	if (!failed && p->n > job.ranks)
		failed = RMA_PASS;
	if (!failed) {
		acquire(p);
		failed = find_members(p, on_node);
		if (failed)
			plan_close(p);
	}
	if (failed)
		real.Group_free(&p->group);
	return failed;
}
