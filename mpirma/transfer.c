// SPDX-License-Identifier: BSD-3-Clause
// MPI_Put, MPI_Get and their forms with requests. Memory that I can load and store, and consecutive
// private memory of another process of the node, is copied here; everything else is Go's.
#include "window.h"

#include "../internal/kernel/runs.h"

#include "_cgo_export.h"

// May the next put like this one be made by the fast path? Its memory must be one region, which
// stays while the window does.
static bool short_put(const struct rma_access *a, int kind)
{
	return kind == RMA_PUT && !a->t->here && rma_fast() && a->trusted && a->origin->dense &&
		a->there->dense && a->origin_count * a->origin->bytes <= FAST_BYTES;
}

// A transfer by Go. request NULL: it is completed by the next synchronisation.
static int by_go(struct rma_access *a, const struct rma_args *g, int kind, void *request)
{
	struct rma_call c = {.kind = kind,
		.proc = a->t->world,
		.trusted = a->trusted,
		.explicit_wait = request != NULL,
		.local = {(uintptr_t)g->origin, a->origin_count, a->origin},
		.remote = {a->addr, a->there_count, a->there}};
	int failed = rma_go_error(a->w, g->function, mpirmago_call(&c), c.text);
	rma_note(a->w, g->target);
	if (!failed && short_put(a, kind))
		mpirmago_add_range(c.proc, a->addr, a->t->addr, a->t->addr + a->t->size);
	return failed || !request ? failed : rma_request(a->w, g->function, c.number, request);
}

// The runs of n bytes of a type, as the kernel has them; those of a dense one are a single run.
static struct k_runs runs_of(const struct rma_type *t, const struct k_span *all)
{
	return t->dense ? (struct k_runs){all, 1, all->bytes} :
			  (struct k_runs){t->runs, t->nruns, t->extent};
}

static void copy_runs(struct rma_access *a, const void *origin, int kind, int64_t n)
{
	const struct k_span all = {0, n};
	struct k_runs here = runs_of(a->origin, &all), there = runs_of(a->there, &all);
	if (kind == RMA_PUT)
		k_copy_runs((void *)a->addr, &there, origin, &here, n);
	else
		k_copy_runs((void *)(uintptr_t)origin, &here, (const void *)a->addr, &there, n);
}

// Consecutive private memory of another process: one call of the kernel. Where it fails Go says
// why.
static bool by_kernel(struct rma_access *a, const void *origin, int kind, size_t n)
{
	struct k_run r = {(uintptr_t)origin, a->addr, (int64_t)n};
	return a->t->by_kernel && a->origin->dense && a->there->dense &&
		shm_vm_move(a->t->local, &r, 1, kind == RMA_PUT) == 0;
}

// A short put to another node by the fast path, which has copied the data when it returns; false:
// nothing has happened.
static bool put_fast(struct rma_access *a, const void *origin, size_t n)
{
	int world = a->t->world;
	const struct fast_path *fast = a->t->here || n > FAST_BYTES ? NULL : rma_fast();
	struct fast_transfer t = rma_short_transfer(world, origin, a->addr, n);
	return fast && a->trusted && a->origin->dense && a->there->dense &&
	       fast->put(&t) == FAST_DONE;
}

static int complete_request(struct rma_win *w, const char *function, void *request)
{
	return request ? rma_request(w, function, 0, request) : RMA_OK;
}

static int sizes_differ(struct rma_access *a, const struct rma_args *g)
{
	return rma_error(a->w, g->function, abi.err_type,
		"target_datatype: the target has room for %ld bytes of data, the origin %ld",
		(long)(a->there->size * a->there_count), (long)(a->origin->size * a->origin_count));
}

static int transfer(const struct rma_args *g, struct rma_win *w, int kind, void *request)
{
	struct rma_access a;
	int failed = rma_reach(&a, w, g);
	if (unlikely(failed))
		return failed;
	if (a.nothing)
		return complete_request(w, g->function, request);
	if (a.origin->size * a.origin_count != a.there->size * a.there_count)
		return sizes_differ(&a, g);
	if (unlikely((a.origin->exact == NULL) != (a.there->exact == NULL))) {
		// one side has no padding
		a.origin = a.origin->exact ? a.origin->exact : a.origin;
		a.there = a.there->exact ? a.there->exact : a.there;
	}
	size_t n = (size_t)(a.origin_count * a.origin->bytes);
	if (!a.direct && kind == RMA_PUT && put_fast(&a, g->origin, n)) {
		rma_note_swift(w, g->target);
		return complete_request(w, g->function, request);
	}
	if (!a.direct)
		return by_kernel(&a, g->origin, kind, n) ?
			complete_request(w, g->function, request) :
			by_go(&a, g, kind, request);
	if (!a.origin->dense || !a.there->dense)
		copy_runs(&a, g->origin, kind, (int64_t)n);
	else if (kind == RMA_PUT)
		k_copy((void *)a.addr, g->origin, n);
	else
		k_copy((void *)g->origin, (const void *)a.addr, n);
	return complete_request(w, g->function, request);
}

#define ARGS(name) \
	(&(struct rma_args){name, origin, origin_count, rma_handle(origin_type), target, disp, \
		target_count, rma_handle(target_type)})

// The function for counts of type `count`, or the MPI's own for a window that is not ours.
#define TRANSFER(name, count, origin_buffer, kind) \
	PUBLIC int PMPI_##name(origin_buffer origin, count origin_count, handle origin_type, \
		int target, aint disp, count target_count, handle target_type, handle win) \
	{ \
		struct rma_win *w = rma_find(rma_handle(win)); \
		return w ? transfer(ARGS("MPI_" #name), w, kind, NULL) : \
			   real.name(origin, origin_count, origin_type, target, disp, \
				   target_count, target_type, win); \
	} \
	RMA_ALIAS(name)

#define REQUEST(name, count, origin_buffer, kind) \
	PUBLIC int PMPI_##name(origin_buffer origin, count origin_count, handle origin_type, \
		int target, aint disp, count target_count, handle target_type, handle win, \
		void *request) \
	{ \
		struct rma_win *w = rma_find(rma_handle(win)); \
		return w ? transfer(ARGS("MPI_" #name), w, kind, request) : \
			   real.name(origin, origin_count, origin_type, target, disp, \
				   target_count, target_type, win, request); \
	} \
	RMA_ALIAS(name)

TRANSFER(Put, int, const void *, RMA_PUT)
TRANSFER(Put_c, count_t, const void *, RMA_PUT)
TRANSFER(Get, int, void *, RMA_GET)
TRANSFER(Get_c, count_t, void *, RMA_GET)
REQUEST(Rput, int, const void *, RMA_PUT)
REQUEST(Rput_c, count_t, const void *, RMA_PUT)
REQUEST(Rget, int, void *, RMA_GET)
REQUEST(Rget_c, count_t, void *, RMA_GET)
