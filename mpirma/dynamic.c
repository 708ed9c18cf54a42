// SPDX-License-Identifier: BSD-3-Clause
// MPI_Win_attach and MPI_Win_detach: memory of the caller becomes reachable for all ranks, until it
// is detached. Only the owner acts; origins find out when they access it.
#include "create.h"

#include <stdlib.h>

#include "_cgo_export.h"

struct attached {
	uintptr_t base;
	aint size;
	bool exposed;
	struct attached *next;
};

static int attach(struct rma_win *w, void *base, aint size)
{
	static const char function[] = "MPI_Win_attach";
	char text[200];
	struct attached *a = malloc(sizeof *a);
	if (!a)
		return rma_error(w, function, abi.err_no_mem, "base: no memory to remember it");
	*a = (struct attached){.base = (uintptr_t)base,
		.size = size,
		.exposed = size > 0 && !mpirmago_owned((uintptr_t)base, size)};
	int failed = a->exposed ?
		rma_go_error(w, function, mpirmago_expose(a->base, size, text), text) :
		RMA_OK;
	if (failed) {
		free(a);
		return failed;
	}
	pthread_mutex_lock(&w->locking);
	a->next = w->attached;
	w->attached = a;
	pthread_mutex_unlock(&w->locking);
	return RMA_OK;
}

PUBLIC int PMPI_Win_attach(handle win, void *base, aint size)
{
	static const char function[] = "MPI_Win_attach";
	struct rma_win *w = rma_known(rma_handle(win));
	if (!w)
		return real.Win_attach(win, base, size);
	if (w->flavor != FLAVOR_DYNAMIC)
		return rma_error(w, function, abi.err_rma_flavor,
			"win: not made by MPI_Win_create_dynamic");
	if (size < 0)
		return rma_error(w, function, abi.err_size, "size: %ld is negative", (long)size);
	if (!base && size > 0)
		return rma_error(w, function, abi.err_arg, "base: null pointer");
	return attach(w, base, size);
}
RMA_ALIAS(Win_attach)

static struct attached *take(struct rma_win *w, uintptr_t base)
{
	pthread_mutex_lock(&w->locking);
	struct attached **at = &w->attached;
	while (*at && (*at)->base != base) at = &(*at)->next;
	struct attached *a = *at;
	if (a)
		*at = a->next;
	pthread_mutex_unlock(&w->locking);
	return a;
}

PUBLIC int PMPI_Win_detach(handle win, const void *base)
{
	static const char function[] = "MPI_Win_detach";
	char text[200];
	struct rma_win *w = rma_known(rma_handle(win));
	if (!w)
		return real.Win_detach(win, base);
	if (w->flavor != FLAVOR_DYNAMIC)
		return rma_error(w, function, abi.err_rma_flavor,
			"win: not made by MPI_Win_create_dynamic");
	struct attached *a = take(w, (uintptr_t)base);
	if (!a)
		return rma_error(w, function, abi.err_base, "base: nothing is attached at %p",
			base);
	int failed = a->exposed ?
		rma_go_error(w, function, mpirmago_conceal(a->base, a->size, text), text) :
		RMA_OK;
	free(a);
	return failed;
}
RMA_ALIAS(Win_detach)

void rma_detach_all(struct rma_win *w)
{
	char text[200];
	while (w->attached) {
		struct attached *a = w->attached;
		w->attached = a->next;
		if (a->exposed)
			mpirmago_conceal(a->base, a->size, text);
		free(a);
	}
}
