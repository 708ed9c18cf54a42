// SPDX-License-Identifier: BSD-3-Clause
// Events in the control blocks, by which members wait for each other: raised behind the data, by a store on the node and by a
// message between nodes; who waits looks, then sleeps. And the barrier that fences are made of.
#include "window.h"

#include "_cgo_export.h"

enum { UNUSUAL_TAG = 32767 }; // the largest that every MPI has

// MPI promises that a message goes on while its sender waits in any call of MPI. So who sleeps here lets the MPI look for a message
// that is hardly ever there: if it finds one it does nothing else.
static void let_mpi_go_on(void)
{
	int flag;
	char status[64]; // MPI_STATUS_IGNORE is another address in each MPI
	real.Iprobe(job.me, UNUSUAL_TAG, abi.comm_world, &flag, status);
}

void rma_may_wait(void) { wait_idle = let_mpi_go_on; }

void rma_await(struct shm_event *e, uint32_t want, const char *function)
{
	rma_may_wait();
	for (uint32_t now; (int32_t)((now = atomic_load(&e->count)) - want) < 0;) shm_event_wait(e, now, -1, function);
}

int rma_raise(struct rma_win *w, const char *function, int member, struct shm_event *e)
{
	struct rma_target *t = &w->target[member];
	char text[200];
	if (t->here && !rma_outstanding(w, member)) {
		shm_event_add(e, 1);
		return RMA_OK;
	}
	if (t->here) { // by the kernel, to private memory: it is complete when the call has returned
		int failed = rma_flush(w, function, member);
		shm_event_add(e, 1);
		return failed;
	}
	return rma_go_error(w, function, mpirmago_raise(t->world, (uintptr_t)e, text), text);
}

// In round k everybody raises the event of the member 2^k behind it and waits for its own: after the last round each has heard
// from all, by way of others.
int rma_meet(struct rma_win *w, const char *function)
{
	w->meetings++;
	for (int k = 0; 1l << k < w->n; k++) {
		int to = (int)((w->me + (1l << k)) % w->n);
		int failed = rma_raise(w, function, to, &w->target[to].block->meet[k]);
		if (failed)
			return failed;
		rma_await(&w->block->meet[k], w->meetings, function);
	}
	return RMA_OK;
}
