// SPDX-License-Identifier: BSD-3-Clause
// MPI_Win_fence: my operations complete, then all members meet. An epoch begins unless the
// assertion says that nothing succeeds.
#include "window.h"

PUBLIC int PMPI_Win_fence(int assertion, handle win)
{
	static const char function[] = "MPI_Win_fence";
	struct rma_win *w = rma_find(rma_handle(win));
	if (!w)
		return real.Win_fence(assertion, win);
	int failed = rma_assertion(w, function, assertion);
	if (failed)
		return failed;
	if (w->locks > 0 || w->locked_all != LOCK_NONE)
		return rma_error(w, function, abi.err_rma_sync, "win: there are locks");
	if (w->started || w->exposing)
		return rma_error(w, function, abi.err_rma_sync,
			"win: an epoch of MPI_Win_start or MPI_Win_post is open");
	failed = rma_flush_all(w, function);
	int met = rma_meet(w, function);
	atomic_store(&w->fence, assertion & abi.mode_nosucceed ? FENCE_NONE : FENCE_OPEN);
	return failed ? failed : met;
}
RMA_ALIAS(Win_fence)
