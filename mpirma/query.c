// SPDX-License-Identifier: BSD-3-Clause
// What a program asks of a window: predefined attributes, group, memory of shared windows. Names,
// user attributes, info and error handlers are those of the real window behind the handle.
#include "window.h"

bool rma_attribute(struct rma_win *w, int keyval, void **value)
{
	if (keyval == abi.win_base)
		*value = w->base;
	else if (keyval == abi.win_size)
		*value = &w->size;
	else if (keyval == abi.win_disp_unit)
		*value = &w->unit;
	else if (keyval == abi.win_create_flavor)
		*value = &abi.flavor[w->flavor];
	else if (keyval == abi.win_model)
		*value = &abi.model_unified;
	else
		return false;
	return true;
}

PUBLIC int PMPI_Win_get_attr(handle win, int keyval, void *value, int *flag)
{
	struct rma_win *w = rma_known(rma_handle(win));
	if (!w || !rma_attribute(w, keyval, value))
		return real.Win_get_attr(win, keyval, value, flag);
	*flag = 1;
	return RMA_OK;
}
RMA_ALIAS(Win_get_attr)

PUBLIC int PMPI_Win_get_group(handle win, void *group)
{
	struct rma_win *w = rma_known(rma_handle(win));
	handle made = 0;
	if (!w)
		return real.Win_get_group(win, group);
	int failed = real.Group_union(w->group, abi.group_empty, &made);
	rma_set_handle(group, made);
	return failed;
}
RMA_ALIAS(Win_get_group)

// The address of a member's memory is about to be given away, in a window of any kind that has
// memory (as MPI 4.1 has it): from now on MPI_Win_lock_all covers loads and stores there, an open
// epoch included.
static int give_address(struct rma_win *w, int rank)
{
	if (w->target[rank].size == 0 || atomic_exchange(&w->target[rank].loaded, true))
		return RMA_OK;
	bool locked = atomic_load(&w->locked_all) != LOCK_ALL || rma_lock_late(w, rank);
	return locked ? RMA_OK : abi.err_other; // the error has been raised
}

// Memory of a member that I can load and store; none: size 0 and NULL. MPI_PROC_NULL: of the first
// member that has some.
static int shared_query(struct rma_win *w, int rank, const struct rma_target **found)
{
	static const char function[] = "MPI_Win_shared_query";
	if (w->flavor == FLAVOR_DYNAMIC)
		return rma_error(w, function, abi.err_rma_flavor,
			"win: a dynamic window has no memory of its own");
	if (rank != abi.proc_null && (unsigned)rank >= (unsigned)w->n)
		return rma_error(w, function, abi.err_rank, "rank: %d is outside 0..%d", rank,
			w->n - 1);
	for (int i = 0; rank == abi.proc_null && i < w->n; i++)
		if (w->target[i].mapped && w->target[i].size > 0)
			rank = i;
	*found = rank != abi.proc_null && w->target[rank].mapped ? &w->target[rank] : NULL;
	return *found ? give_address(w, rank) : RMA_OK;
}

#define SHARED_QUERY(name, number) \
	PUBLIC int PMPI_##name(handle win, int rank, aint *size, number *unit, void *base) \
	{ \
		struct rma_win *w = rma_known(rma_handle(win)); \
		if (!w) \
			return real.name(win, rank, size, unit, base); \
		const struct rma_target *t = NULL; \
		int failed = shared_query(w, rank, &t); \
		if (!failed) { \
			*size = t ? (aint)t->size : 0; \
			*unit = t ? (number)t->unit : 1; \
			*(void **)base = t ? (void *)t->addr : NULL; \
		} \
		return failed; \
	} \
	RMA_ALIAS(name)

SHARED_QUERY(Win_shared_query, int)
SHARED_QUERY(Win_shared_query_c, aint)
