// SPDX-License-Identifier: BSD-3-Clause
// Events in the control blocks, by which members wait for each other: raised behind the data, by a
// store on the node, by a write of the device to another node, else by a message. A waiter looks,
// then sleeps. And the barrier that fences are made of.
#include "window.h"

#include "_cgo_export.h"

enum { UNUSUAL_TAG = 32767 }; // the largest that every MPI has

// MPI promises that a message makes progress while its sender waits in any call of MPI. So a thread
// that sleeps here lets the MPI probe for a message that hardly ever exists: the probe drives the
// MPI's progress, and a message that it finds stays where it is.
static void let_mpi_go_on(void)
{
	int flag;
	char status[64]; // MPI_STATUS_IGNORE is another address in each MPI
	real.Iprobe(job.me, UNUSUAL_TAG, abi.comm_world, &flag, status);
}

void rma_may_wait(void) { wait_idle = let_mpi_go_on; }

int rma_await(struct rma_win *w, const char *function, int member, struct rma_word *mine,
	struct rma_word *there, uint32_t want)
{
	const struct rma_target *t = &w->target[member];
	char text[200];
	rma_may_wait();
	struct shm_event *e = &mine->event;
	for (uint32_t now; (int32_t)((now = shm_event_count(e)) - want) < 0;) {
		if (t->here || !job.words) {
			shm_event_wait(e, now, -1, function);
		} else if (!shm_event_soon(e, now)) {
			int result = mpirmago_await(t->world, (uintptr_t)e,
				(uintptr_t)&there->record, now, (char *)function, text);
			if (result != GO_OK)
				return rma_go_error(w, function, result, text);
		}
	}
	return RMA_OK;
}

// By the fast path; false: nothing has happened.
static bool raise_fast(int world, struct rma_word *there, struct rma_word *mine, int *result,
	char *text)
{
	const struct fast_path *fast = rma_fast();
	uint32_t count = shm_event_count(&mine->record) + 1;
	struct fast_transfer t = rma_short_transfer(world, &count,
		(uintptr_t)&there->event.count, sizeof count);
	if (!fast || fast->put_after(&t) != FAST_DONE)
		return false;
	*result = GO_OK;
	if (shm_event_sent(&mine->record, count))
		*result = mpirmago_tell(world, (uintptr_t)&there->event, count, text);
	return true;
}

// At a member of another node. Gets that Go was given have their data afterwards.
static int raise_beyond(struct rma_win *w, const char *function, int member, struct rma_word *there,
	struct rma_word *mine)
{
	struct rma_target *t = &w->target[member];
	uint32_t posted = atomic_load_explicit(&w->posted[member], memory_order_acquire);
	char text[200];
	int result;
	if (posted == atomic_load_explicit(&w->local[member], memory_order_relaxed) &&
	    raise_fast(t->world, there, mine, &result, text))
		return result == GO_OK ? RMA_OK : rma_go_error(w, function, result, text);
	result = mpirmago_raise(t->world, (uintptr_t)&there->event, (uintptr_t)&mine->record,
		(uintptr_t)t->block, (uintptr_t)&t->block->pair[w->n], text);
	atomic_store_explicit(&w->local[member], posted, memory_order_release);
	return rma_go_error(w, function, result, text);
}

int rma_raise(struct rma_win *w, const char *function, int member, struct rma_word *there,
	struct rma_word *mine)
{
	if (!w->target[member].here)
		return raise_beyond(w, function, member, there, mine);
	// What the kernel has stored in private memory is complete when the call has returned.
	int failed = rma_outstanding(w, member) ? rma_flush(w, function, member) : RMA_OK;
	shm_event_add(&there->event, 1);
	return failed;
}

// In round k each member raises the event of the member 2^k behind it and waits for its own: after
// the last round each has heard from all, by way of others.
int rma_meet(struct rma_win *w, const char *function)
{
	w->meetings++;
	for (int k = 0; 1l << k < w->n; k++) {
		int step = (int)((1l << k) % w->n), to = (w->me + step) % w->n,
		    from = (w->me + w->n - step) % w->n;
		struct rma_word *mine = &w->block->meet[k];
		int failed = rma_raise(w, function, to, &w->target[to].block->meet[k], mine);
		if (!failed)
			failed = rma_await(w, function, from, mine, &w->target[from].block->meet[k],
				w->meetings);
		if (failed)
			return failed;
	}
	return RMA_OK;
}

// A waiter reads the raiser's record, which goes with the raiser's block. So between nodes these
// events are messages.
int rma_meet_last(struct rma_win *w, const char *function)
{
	char text[200];
	w->meetings++;
	rma_may_wait();
	for (int k = 0; 1l << k < w->n; k++) {
		struct rma_target *t = &w->target[(w->me + (int)((1l << k) % w->n)) % w->n];
		struct shm_event *theirs = &t->block->meet[k].event,
				 *mine = &w->block->meet[k].event;
		int result = GO_OK;
		if (t->here)
			shm_event_add(theirs, 1);
		else
			result = mpirmago_add(t->world, (uintptr_t)theirs, text);
		if (result != GO_OK)
			return rma_go_error(w, function, result, text);
		for (uint32_t now; (int32_t)((now = shm_event_count(mine)) - w->meetings) < 0;)
			shm_event_wait(mine, now, -1, function);
	}
	return RMA_OK;
}
