// SPDX-License-Identifier: BSD-3-Clause
// Passive target: MPI_Win_lock, unlock, lock_all, unlock_all. A target's lock is in its control
// block: on my node it is taken by compare-and-swap, else by my device's atomics, if it has any, or
// by a message to the target's node. MPI_Win_lock_all takes the locks that protect loads and stores
// at once, and the others when a target is first accessed, or its address is asked for.
#include "window.h"

#include "_cgo_export.h"

int rma_take(struct rma_win *w, int target, bool exclusive, const char *function)
{
	struct rma_target *t = &w->target[target];
	char text[200];
	if (!t->here) {
		uintptr_t lock = (uintptr_t)&t->block->lock;
		int result = mpirmago_lock(t->world, lock, t->word, exclusive, &t->way, text);
		return rma_go_error(w, function, result, text);
	}
	rma_may_wait();
	if (exclusive)
		shm_exclude(&t->block->lock, (uint32_t)job.me + 1);
	else
		shm_share(&t->block->lock, (uint32_t)job.me + 1);
	return RMA_OK;
}

int rma_give(struct rma_win *w, int target, bool exclusive, const char *function)
{
	struct rma_target *t = &w->target[target];
	char text[200];
	if (!t->here) { // it comes back when all my operations there have taken effect
		uint32_t posted = atomic_load_explicit(&w->posted[target], memory_order_acquire);
		uintptr_t lock = (uintptr_t)&t->block->lock;
		int result = mpirmago_unlock(t->world, lock, t->word, exclusive, t->way, text);
		int failed = rma_go_error(w, function, result, text);
		atomic_store_explicit(&w->flushed[target], posted, memory_order_release);
		return failed;
	}
	int failed = rma_flush(w, function, target);
	if (exclusive)
		shm_unexclude(&t->block->lock);
	else
		shm_unshare(&t->block->lock);
	return failed;
}

// An epoch of another kind must not be open.
static int mixed(struct rma_win *w, const char *function)
{
	if (w->started)
		return rma_error(w, function, abi.err_rma_sync,
			"win: an epoch of MPI_Win_start is open");
	if (w->fence == FENCE_USED)
		return rma_error(w, function, abi.err_rma_sync,
			"win: an epoch of MPI_Win_fence is open");
	return RMA_OK;
}

static int lock(struct rma_win *w, bool exclusive, int rank, int assertion)
{
	static const char function[] = "MPI_Win_lock";
	int failed = mixed(w, function);
	if (failed)
		return failed;
	if (w->locked_all != LOCK_NONE || w->lock[rank] != LOCK_NONE)
		return rma_error(w, function, abi.err_rma_sync, "rank: rank %d is locked already",
			rank);
	bool free_of_locks = assertion & abi.mode_nocheck;
	if (!free_of_locks && (failed = rma_take(w, rank, exclusive, function)))
		return failed;
	atomic_store_explicit(&w->fence, FENCE_NONE, memory_order_relaxed);
	pthread_mutex_lock(&w->locking);
	w->locks++;
	pthread_mutex_unlock(&w->locking);
	atomic_store(&w->lock[rank],
		free_of_locks     ? LOCK_NOCHECK :
			exclusive ? LOCK_EXCLUSIVE :
				    LOCK_SHARED);
	return RMA_OK;
}

PUBLIC int PMPI_Win_lock(int type, int rank, int assertion, handle win)
{
	static const char function[] = "MPI_Win_lock";
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Win_lock(type, rank, assertion, win);
	if (rank == abi.proc_null)
		return RMA_OK;
	if ((unsigned)rank >= (unsigned)w->n)
		return rma_error(w, function, abi.err_rank, "rank: %d is outside 0..%d", rank,
			w->n - 1);
	if (type != abi.lock_exclusive && type != abi.lock_shared)
		return rma_error(w, function, abi.err_locktype, "lock_type: %d is no type of lock",
			type);
	int failed = rma_assertion(w, function, assertion);
	return failed ? failed : lock(w, type == abi.lock_exclusive, rank, assertion);
}
RMA_ALIAS(Win_lock)

PUBLIC int PMPI_Win_unlock(int rank, handle win)
{
	static const char function[] = "MPI_Win_unlock";
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Win_unlock(rank, win);
	if (rank == abi.proc_null)
		return RMA_OK;
	if ((unsigned)rank >= (unsigned)w->n)
		return rma_error(w, function, abi.err_rank, "rank: %d is outside 0..%d", rank,
			w->n - 1);
	uint8_t how = w->lock[rank];
	if (how == LOCK_NONE || how == LOCK_ALL || w->locked_all != LOCK_NONE)
		return rma_error(w, function, abi.err_rma_sync, "rank: rank %d is not locked",
			rank);
	atomic_store(&w->lock[rank], LOCK_NONE);
	pthread_mutex_lock(&w->locking);
	w->locks--;
	pthread_mutex_unlock(&w->locking);
	return how == LOCK_NOCHECK ? rma_flush(w, function, rank) :
				     rma_give(w, rank, how == LOCK_EXCLUSIVE, function);
}
RMA_ALIAS(Win_unlock)

// Locks what may be loaded and stored under MPI_Win_lock_all without a call: my own memory, that of
// shared windows, and what MPI_Win_shared_query has given an address of.
static int lock_what_is_loaded(struct rma_win *w, const char *function)
{
	for (int t = 0; t < w->n; t++) {
		if (t != w->me && w->flavor != FLAVOR_SHARED && !atomic_load(&w->target[t].loaded))
			continue;
		int failed = rma_take(w, t, false, function);
		if (failed)
			return failed;
		w->lock[t] = LOCK_ALL;
	}
	return RMA_OK;
}

PUBLIC int PMPI_Win_lock_all(int assertion, handle win)
{
	static const char function[] = "MPI_Win_lock_all";
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Win_lock_all(assertion, win);
	int failed = rma_assertion(w, function, assertion);
	if (failed || (failed = mixed(w, function)))
		return failed;
	if (w->locked_all != LOCK_NONE || w->locks > 0)
		return rma_error(w, function, abi.err_rma_sync, "win: there are locks already");
	if (!(assertion & abi.mode_nocheck) && (failed = lock_what_is_loaded(w, function)))
		return failed;
	atomic_store_explicit(&w->fence, FENCE_NONE, memory_order_relaxed);
	atomic_store(&w->locked_all, assertion & abi.mode_nocheck ? LOCK_NOCHECK : LOCK_ALL);
	return RMA_OK;
}
RMA_ALIAS(Win_lock_all)

PUBLIC int PMPI_Win_unlock_all(handle win)
{
	static const char function[] = "MPI_Win_unlock_all";
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Win_unlock_all(win);
	if (w->locked_all == LOCK_NONE)
		return rma_error(w, function, abi.err_rma_sync,
			"win: MPI_Win_lock_all has not been called");
	int first = rma_flush_all(w, function);
	for (int t = 0; t < w->n; t++) {
		if (w->lock[t] != LOCK_ALL)
			continue;
		int failed = rma_give(w, t, false, function);
		first = first ? first : failed;
		w->lock[t] = LOCK_NONE;
	}
	atomic_store(&w->locked_all, LOCK_NONE);
	return first;
}
RMA_ALIAS(Win_unlock_all)
