// SPDX-License-Identifier: BSD-3-Clause
// Notification. On a node a counter is raised; between nodes the fast path writes it, behind the
// puts that it has made. The rest is Go's: what has to follow other stores, and waits that sleep.
#include "front.h"

#include <pthread.h>

#include "go.h"

// one notification of another node after the other
static pthread_mutex_t notifying = PTHREAD_MUTEX_INITIALIZER;

// Returns 0 if nothing has happened.
static int by_fast_path(int proc)
{
	struct notified *n = &front.notified[proc];
	const struct fast_path *fast = front_fast((unsigned)proc);
	uintptr_t at = atomic_load_explicit(&n->at, memory_order_acquire);
	uint32_t count = atomic_load_explicit(&n->sent, memory_order_relaxed) + 1;
	struct fast_transfer t = front_transfer(proc, &count, (void *)at, sizeof count);
	if (!fast || !at || atomic_load_explicit(&front.aggregates, memory_order_relaxed) != 0 ||
		fast->put_after(&t) != FAST_DONE)
		return 0;
	atomic_store_explicit(&n->sent, count, memory_order_relaxed);
	int rc = shm_notify_sent(proc, count) ? armcigo_tell_notified(proc, count) : 0;
	return rc ? rc : (int)count;
}

int parmci_notify(int proc)
{
	if ((unsigned)proc >= atomic_load_explicit(&front.ranks, memory_order_acquire)) {
		PROFILED(notify, proc);
		return armcigo_notify(proc);
	}
	if (front.local[proc] >= 0)
		return front_fence_here((unsigned)proc) ?
			(int)shm_notify(front.local[proc], front.me) :
			armcigo_notify(proc);
	pthread_mutex_lock(&notifying);
	int n = by_fast_path(proc);
	if (n == 0)
		n = armcigo_notify(proc);
	pthread_mutex_unlock(&notifying);
	return n;
}
WEAK_AS(armci_notify, parmci_notify);

int parmci_notify_wait(int proc, int *pval)
{
	uint32_t want, got;
	if (!pval || (unsigned)proc >= atomic_load_explicit(&front.ranks, memory_order_acquire)) {
		PROFILED(notify_wait, proc, pval);
		return armcigo_notify_wait(proc, 0, pval);
	}
	want = atomic_fetch_add(&front.notified[proc].waited, 1) + 1;
	if (!shm_notify_soon(proc, want, &got))
		return armcigo_notify_wait(proc, want, pval);
	*pval = (int)want;
	return (int)got;
}
WEAK_AS(armci_notify_wait, parmci_notify_wait);
