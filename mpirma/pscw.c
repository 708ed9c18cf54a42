// SPDX-License-Identifier: BSD-3-Clause
// MPI_Win_post, start, complete, wait, test: counters in the control blocks, raised behind the
// data, as in paper 003. A target that posts raises a counter at each origin; an origin that starts
// waits for those of its targets; one that completes raises a counter at each target. Each counter
// is raised by one member alone, so that its device can write it.
#include "window.h"

#include <stdlib.h>

// What a member keeps for this one.
static struct rma_pair *pair_at(struct rma_win *w, int member)
{
	return &w->target[member].block->pair[w->me];
}

// The members of the window that a group has; NULL: an error has been raised. The caller frees it.
static int *members(struct rma_win *w, const char *function, handle group, int *n, int *failed)
{
	*failed = real.Group_size(group, n);
	if (*failed)
		return NULL;
	int *list = calloc((size_t)(2 * *n + 1), sizeof *list);
	for (int i = 0; list && i < *n; i++) list[*n + i] = i;
	*failed = list ? real.Group_translate_ranks(group, *n, list + *n, w->group, list) :
			 rma_error(w, function, abi.err_no_mem,
				 "group: no memory for the list of its ranks");
	for (int i = 0; !*failed && i < *n; i++)
		if (list[i] == abi.undefined)
			*failed = rma_error(w, function, abi.err_group,
				"group: its rank %d is not in the window", i);
	if (*failed) {
		free(list);
		return NULL;
	}
	return list;
}

PUBLIC int PMPI_Win_post(handle group, int assertion, handle win)
{
	static const char function[] = "MPI_Win_post";
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Win_post(group, assertion, win);
	if (w->exposing)
		return rma_error(w, function, abi.err_rma_sync,
			"win: an exposure epoch is open already");
	int n, failed = rma_assertion(w, function, assertion);
	int *list = failed ? NULL : members(w, function, rma_handle(group), &n, &failed);
	if (!list)
		return failed;
	for (int i = 0; i < n; i++) w->expected[list[i]]++;
	atomic_thread_fence(memory_order_seq_cst);
	for (int i = 0; !failed && i < n; i++)
		failed = rma_raise(w, function, list[i], &pair_at(w, list[i])->posts,
			&w->block->pair[list[i]].posts);
	free(w->origins);
	w->origins = list;
	w->origins_n = n;
	atomic_store(&w->fence, FENCE_NONE);
	atomic_store(&w->exposing, 1);
	return failed;
}
RMA_ALIAS(Win_post)

PUBLIC int PMPI_Win_start(handle group, int assertion, handle win)
{
	static const char function[] = "MPI_Win_start";
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Win_start(group, assertion, win);
	if (w->started || w->locks > 0 || w->locked_all != LOCK_NONE || w->fence == FENCE_USED)
		return rma_error(w, function, abi.err_rma_sync,
			"win: an access epoch is open already");
	int n, failed = rma_assertion(w, function, assertion);
	int *list = failed ? NULL : members(w, function, rma_handle(group), &n, &failed);
	if (!list)
		return failed;
	for (int i = 0; i < n; i++) {
		int t = list[i],
		    lost = rma_await(w, function, t, &w->block->pair[t].posts,
			    &pair_at(w, t)->posts, ++w->seen[t]);
		failed = failed ? failed : lost;
		w->access[t] = 1;
	}
	free(w->targets);
	w->targets = list;
	w->started_n = n;
	atomic_store(&w->fence, FENCE_NONE);
	atomic_store(&w->started, 1);
	return failed;
}
RMA_ALIAS(Win_start)

PUBLIC int PMPI_Win_complete(handle win)
{
	static const char function[] = "MPI_Win_complete";
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Win_complete(win);
	if (!w->started)
		return rma_error(w, function, abi.err_rma_sync,
			"win: MPI_Win_start has not been called");
	int first = RMA_OK;
	atomic_store(&w->started, 0);
	for (int i = 0; i < w->started_n; i++) {
		int t = w->targets[i];
		int failed = rma_raise(w, function, t, &pair_at(w, t)->completions,
			&w->block->pair[t].completions);
		first = first ? first : failed;
		w->access[t] = 0;
	}
	return first;
}
RMA_ALIAS(Win_complete)

PUBLIC int PMPI_Win_wait(handle win)
{
	static const char function[] = "MPI_Win_wait";
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Win_wait(win);
	if (!w->exposing)
		return rma_error(w, function, abi.err_rma_sync,
			"win: MPI_Win_post has not been called");
	int failed = RMA_OK;
	for (int i = 0; i < w->origins_n && !failed; i++) {
		int o = w->origins[i];
		failed = rma_await(w, function, o, &w->block->pair[o].completions,
			&pair_at(w, o)->completions, w->expected[o]);
	}
	atomic_store(&w->exposing, 0);
	return failed;
}
RMA_ALIAS(Win_wait)

PUBLIC int PMPI_Win_test(handle win, int *flag)
{
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Win_test(win, flag);
	if (!w->exposing)
		return rma_error(w, "MPI_Win_test", abi.err_rma_sync,
			"win: MPI_Win_post has not been called");
	*flag = 1;
	for (int i = 0; i < w->origins_n && *flag; i++) {
		int o = w->origins[i];
		*flag = (int32_t)(atomic_load(&w->block->pair[o].completions.event.count) -
				w->expected[o]) >= 0;
	}
	if (*flag)
		atomic_store(&w->exposing, 0);
	return RMA_OK;
}
RMA_ALIAS(Win_test)
