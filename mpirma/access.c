// SPDX-License-Identifier: BSD-3-Clause
// Checks every operation before a byte is touched: rank, counts, types, epoch, range. What it lets
// through is within the window, so the engine is told not to ask again.
#include "record.h"

// The locks of MPI_Win_lock_all are taken when a target is first accessed.
bool rma_lock_late(struct rma_win *w, int target)
{
	pthread_mutex_lock(&w->locking);
	bool got = w->lock[target] != LOCK_NONE ||
		rma_take(w, target, false, "MPI_Win_lock_all") == RMA_OK;
	if (got)
		atomic_store(&w->lock[target], LOCK_ALL);
	pthread_mutex_unlock(&w->locking);
	return got;
}

bool rma_epoch(struct rma_win *w, int target)
{
	if (likely(atomic_load_explicit(&w->lock[target], memory_order_relaxed) != LOCK_NONE))
		return true;
	switch (atomic_load_explicit(&w->locked_all, memory_order_relaxed)) {
	case LOCK_ALL:
		return rma_lock_late(w, target);
	case LOCK_NOCHECK:
		return true;
	}
	if (atomic_load_explicit(&w->started, memory_order_relaxed))
		return w->access[target];
	int fence = atomic_load_explicit(&w->fence, memory_order_relaxed);
	if (fence == FENCE_OPEN)
		atomic_store_explicit(&w->fence, FENCE_USED, memory_order_relaxed);
	return fence != FENCE_NONE;
}

// Are n bytes from lo on in one region of a rank of the node? *f: the region that was found last.
static bool in_region(int local, uintptr_t lo, uint64_t n, struct shm_found *f)
{
	return ((lo >= f->lo && lo < f->hi) || shm_find(local, lo, f)) && n <= f->hi - lo;
}

static bool in_arena(const struct shm_found *f)
{
	return f->lo >= (uintptr_t)shm.base && f->lo - (uintptr_t)shm.base < shm.bytes;
}

// Is every run of a datatype in a region, though not all of them in the same one? mapped: all are
// where I can load and store.
static bool runs_attached(const struct rma_access *a, int local, bool *mapped)
{
	const struct rma_type *t = a->there;
	struct shm_found f = {0};
	*mapped = true;
	for (int64_t i = 0; i < a->there_count; i++)
		for (int64_t k = 0; k < t->nruns; k++) {
			uintptr_t at = a->addr + (uintptr_t)(i * t->extent + t->runs[k].offset);
			if (!in_region(local, at, (uint64_t)t->runs[k].bytes, &f))
				return false;
			*mapped = *mapped && in_arena(&f);
		}
	return true;
}

// Memory of a dynamic window is what its owner has attached: the node's table of regions knows.
// What lies between the runs of a datatype is not touched, and need not be attached.
static bool attached(struct rma_access *a, uintptr_t lo, uint64_t n)
{
	struct shm_found f = {0};
	bool mapped;
	a->trusted = false;
	if (!a->t->here) // the engine asks the owner
		return true;
	int local = shm_local_of(a->t->world);
	a->trusted = in_region(local, lo, n, &f);
	if (a->trusted)
		mapped = in_arena(&f);
	else if (a->there->dense || !runs_attached(a, local, &mapped))
		return false;
	a->direct = job.fast && (mapped || a->t->world == job.me);
	return true;
}

// Finds the target's memory and checks that all of it is in the window.
static bool in_window(struct rma_access *a, aint disp)
{
	const struct rma_type *t = a->there;
	const struct rma_target *at = a->t;
	int64_t last = a->there_count - 1, step, from, to;
	a->trusted = true;
	a->direct = at->direct;
	if (__builtin_mul_overflow((int64_t)disp, at->unit, &step) ||
		__builtin_mul_overflow(last, t->extent, &from))
		return false;
	to = (from > 0 ? from : 0) + t->true_ub; // of the elements, relative to the first one
	from = (from < 0 ? from : 0) + t->true_lb;
	a->addr = at->addr + (uintptr_t)step;
	if (a->w->flavor == FLAVOR_DYNAMIC)
		return attached(a, a->addr + (uintptr_t)from, (uint64_t)(to - from));
	return !__builtin_add_overflow(from, step, &from) &&
		!__builtin_add_overflow(to, step, &to) && from >= 0 && (uint64_t)to <= at->size;
}

static int check_counts(struct rma_access *a, struct rma_win *w, const struct rma_args *g)
{
	if (g->origin_count < 0)
		return rma_error(w, g->function, abi.err_count, "origin_count: %ld is negative",
			(long)g->origin_count);
	if (g->there_count < 0)
		return rma_error(w, g->function, abi.err_count, "target_count: %ld is negative",
			(long)g->there_count);
	a->origin = rma_type(g->origin_type);
	a->there = g->there_type == g->origin_type ? a->origin : rma_type(g->there_type);
	if (!a->origin)
		return rma_error(w, g->function, abi.err_type, "origin_datatype: not a datatype, "
			"or there is no memory for its layout");
	if (!a->there)
		return rma_error(w, g->function, abi.err_type, "target_datatype: not a datatype, "
			"or there is no memory for its layout");
	return RMA_OK;
}

static int no_epoch(struct rma_win *w, const struct rma_args *g)
{
	return rma_error(w, g->function, abi.err_rma_sync,
		"target_rank: there is no access epoch for rank %d", g->target);
}

static int out_of_range(struct rma_win *w, const struct rma_args *g)
{
	if (w->flavor == FLAVOR_DYNAMIC)
		return rma_error(w, g->function, abi.err_rma_range,
			"target_disp: %ld elements at %#lx: rank %d has not attached all of it",
			(long)g->there_count, (unsigned long)g->disp, g->target);
	return rma_error(w, g->function, abi.err_rma_range,
		"target_disp: %ld elements at displacement %ld are not within the window "
		"of rank %d (%lu bytes)", (long)g->there_count, (long)g->disp, g->target,
		(unsigned long)w->target[g->target].size);
}

int rma_reach(struct rma_access *a, struct rma_win *w, const struct rma_args *g)
{
	int failed = check_counts(a, w, g);
	if (failed)
		return failed;
	a->w = w;
	a->origin_count = g->origin_count;
	a->there_count = g->there_count;
	a->nothing = g->target == abi.proc_null;
	if (a->nothing)
		return RMA_OK;
	if ((unsigned)g->target >= (unsigned)w->n)
		return rma_error(w, g->function, abi.err_rank, "target_rank: %d is outside 0..%d",
			g->target, w->n - 1);
	if (!rma_epoch(w, g->target))
		return no_epoch(w, g);
	a->t = &w->target[g->target];
	a->nothing = g->there_count == 0 || a->there->size == 0;
	if (a->nothing)
		return RMA_OK;
	return in_window(a, g->disp) ? RMA_OK : out_of_range(w, g);
}

int rma_go_error(struct rma_win *w, const char *function, int result, const char *text)
{
	profile_entered_go = true;
	if (result == GO_OK)
		return RMA_OK;
	int class = result == GO_RANGE ? abi.err_rma_range :
		result == GO_MEMORY    ? abi.err_no_mem :
					 abi.err_other;
	return rma_error(w, function, class, "%s", text);
}

int rma_assertion(struct rma_win *w, const char *function, int assertion)
{
	int known = abi.mode_nocheck | abi.mode_nostore | abi.mode_noput | abi.mode_noprecede |
		abi.mode_nosucceed;
	return assertion & ~known ? rma_error(w, function, abi.err_assert,
					    "assert: %#x has unknown bits", (unsigned)assertion) :
				    RMA_OK;
}
