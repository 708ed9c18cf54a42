// SPDX-License-Identifier: BSD-3-Clause
// MPI_Win_flush and its forms, MPI_Win_sync. What was loaded and stored directly needs a fence of
// the processor; where Go has been given operations since the last flush, it completes them.
#include "window.h"

#include "_cgo_export.h"

// Completes puts of the fast path at a target of another node; false: Go has to.
static bool complete_swift(struct rma_win *w, int target)
{
	const struct fast_path *fast = rma_fast();
	int world = w->target[target].world;
	return !rma_outstanding(w, target) && fast && fast->fence(world, &job.traffic[world]);
}

// Completes what Go and the fast path were given for one target: at the target, or only here.
static int complete(struct rma_win *w, const char *function, int target, bool locally)
{
	char text[200];
	if (likely(!rma_outstanding(w, target) &&
		    !atomic_load_explicit(&w->swift[target], memory_order_relaxed)))
		return RMA_OK;
	int world = w->target[target].world, failed = RMA_OK;
	uint32_t posted = atomic_load_explicit(&w->posted[target], memory_order_acquire);
	if (locally) {
		failed = rma_go_error(w, function, mpirmago_flush_local(world, text), text);
		atomic_store_explicit(&w->local[target], posted, memory_order_release);
		return failed;
	}
	atomic_store_explicit(&w->swift[target], 0, memory_order_seq_cst);
	if (!complete_swift(w, target))
		failed = rma_go_error(w, function, mpirmago_flush(world, text), text);
	atomic_store_explicit(&w->flushed[target], posted, memory_order_release);
	atomic_store_explicit(&w->local[target], posted, memory_order_release);
	return failed;
}

static int complete_all(struct rma_win *w, const char *function, bool locally)
{
	int first = RMA_OK;
	uint32_t posted = atomic_load_explicit(&w->all_posted, memory_order_acquire);
	if (posted != atomic_load_explicit(&w->all_flushed, memory_order_acquire)) {
		for (int t = 0; t < w->n; t++) {
			int failed = complete(w, function, t, locally);
			first = first ? first : failed;
		}
		if (!locally)
			atomic_store_explicit(&w->all_flushed, posted, memory_order_release);
	}
	atomic_thread_fence(memory_order_seq_cst);
	return first;
}

int rma_flush(struct rma_win *w, const char *function, int target)
{
	int failed = complete(w, function, target, false);
	atomic_thread_fence(memory_order_seq_cst);
	return failed;
}

int rma_flush_all(struct rma_win *w, const char *function)
{
	return complete_all(w, function, false);
}

// Flushing is for passive epochs: of one target, or (target < 0) of any.
static int flush(handle win, const char *function, int target, bool all, bool locally)
{
	struct rma_win *w = rma_find(win);
	bool locked = w->locked_all != LOCK_NONE || (all ? w->locks > 0 : true);
	if (!all && target == abi.proc_null)
		return RMA_OK;
	if (!all && (unsigned)target >= (unsigned)w->n)
		return rma_error(w, function, abi.err_rank, "rank: %d is outside 0..%d", target,
			w->n - 1);
	if (!locked || (!all && w->locked_all == LOCK_NONE && w->lock[target] == LOCK_NONE))
		return rma_error(w, function, abi.err_rma_sync, "win: %s is not locked",
			all ? "no rank" : "the rank");
	if (all)
		return complete_all(w, function, locally);
	int failed = complete(w, function, target, locally);
	atomic_thread_fence(memory_order_seq_cst);
	return failed;
}

#define FLUSH(name, locally) \
	PUBLIC int PMPI_Win_##name(int rank, handle win) \
	{ \
		return rma_find(rma_handle(win)) ? \
			flush(rma_handle(win), "MPI_Win_" #name, rank, false, locally) : \
			real.Win_##name(rank, win); \
	} \
	RMA_ALIAS(Win_##name)

#define FLUSH_ALL(name, locally) \
	PUBLIC int PMPI_Win_##name(handle win) \
	{ \
		return rma_find(rma_handle(win)) ? \
			flush(rma_handle(win), "MPI_Win_" #name, -1, true, locally) : \
			real.Win_##name(win); \
	} \
	RMA_ALIAS(Win_##name)

FLUSH(flush, false)
FLUSH(flush_local, true)
FLUSH_ALL(flush_all, false)
FLUSH_ALL(flush_local_all, true)

PUBLIC int PMPI_Win_sync(handle win)
{
	if (!rma_find(rma_handle(win)))
		return real.Win_sync(win);
	atomic_thread_fence(memory_order_seq_cst);
	return RMA_OK;
}
RMA_ALIAS(Win_sync)
