// SPDX-License-Identifier: BSD-3-Clause
// The members of a window that is made, and the memory for their exchange.
#include "plan.h"

#include <stdlib.h>

#include "_cgo_export.h"

// Of job.reserve. A thread that finds it in use waits until the other's window is made.
static pthread_mutex_t reserve = PTHREAD_MUTEX_INITIALIZER;

size_t plan_bytes(int n)
{
	struct plan *p = NULL;
	// the translation of ranks needs a list of ranks of the group, too
	return (size_t)n * (sizeof *p->cards + sizeof *p->sizes + 2 * sizeof *p->world);
}

// Takes memory for n members.
static void acquire(struct plan *p)
{
	p->cards = calloc(1, plan_bytes(p->n));
	p->reserved = !p->cards;
	if (p->reserved) {
		pthread_mutex_lock(&reserve);
		p->cards = job.reserve;
	}
	p->sizes = (int64_t *)(p->cards + p->n);
	p->world = (int *)(p->sizes + p->n);
}

void plan_close(struct plan *p)
{
	if (p->reserved)
		pthread_mutex_unlock(&reserve);
	else
		free(p->cards);
}

// Fills in p->world. False: a member is not of the job.
static bool find_members(struct plan *p, handle everybody)
{
	int *ranks = p->world + p->n;
	for (int i = 0; i < p->n; i++) ranks[i] = i;
	bool ours = !real.Group_translate_ranks(p->group, p->n, ranks, everybody, p->world);
	for (int i = 0; ours && i < p->n; i++) ours = p->world[i] != abi.undefined;
	return ours;
}

static bool all_here(const struct plan *p)
{
	bool here = true;
	for (int i = 0; i < p->n; i++) here = here && mpirmago_here(p->world[i]);
	return here;
}

bool plan_open(struct plan *p, handle comm, bool on_node)
{
	handle everybody = 0;
	if (real.Comm_group(comm, &p->group))
		return false;
	bool ours = !real.Group_size(p->group, &p->n) && p->n <= job.ranks &&
		    !real.Comm_group(abi.comm_world, &everybody);
	if (ours) {
		acquire(p);
		ours = find_members(p, everybody) && (!on_node || all_here(p));
		real.Group_free(&everybody);
		if (!ours)
			plan_close(p);
	}
	if (!ours)
		real.Group_free(&p->group);
	return ours;
}
