// SPDX-License-Identifier: BSD-3-Clause
// Requests of MPI_Rput and its relatives, which the MPI's own MPI_Wait, MPI_Test and all others
// complete. An operation that is done already gets the MPI's request of a message from
// MPI_PROC_NULL, which is complete. One that is not gets a generalised request, whose operation is
// looked at while the MPI waits: MPICH polls such a request itself, Open MPI calls `progress` from
// its progress engine. Where an MPI does neither, the call waits.
#include "rma.h"

#include <pthread.h>
#include <stdlib.h>

// Of Go: 1 if the operation of a number is complete, and the number is free again; waiting for
// that.
int mpirmago_test(int32_t number);
void mpirmago_wait(int32_t number);

enum { LOOKS = 32 }; // at most so many operations are looked at in one go

struct pending {
	handle request;
	int32_t number;              // 0: complete, and in no ring
	atomic_int uses;             // by the request, and by the thread that completes it
	struct pending *next, *prev; // a ring
};

// Operations that are not complete. The lock is held while Go is asked about one, so that only one
// thread learns that it is.
static struct {
	pthread_mutex_t lock;
	struct pending *ring; // the next to be looked at
	atomic_int n;
	bool registered;
} open = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void enter(struct pending *p)
{
	struct pending *before = open.ring ? open.ring : p;
	p->next = before;
	p->prev = open.ring ? before->prev : p;
	p->prev->next = p;
	before->prev = p;
	open.ring = before;
	atomic_fetch_add_explicit(&open.n, 1, memory_order_release);
}

static void take_out(struct pending *p)
{
	open.ring = p->next != p ? p->next : NULL;
	p->prev->next = p->next;
	p->next->prev = p->prev;
	p->number = 0;
	atomic_fetch_sub_explicit(&open.n, 1, memory_order_relaxed);
}

static void drop(struct pending *p)
{
	if (atomic_fetch_sub_explicit(&p->uses, 1, memory_order_acq_rel) == 1)
		free(p);
}

// Without the lock: the MPI may have one of its own.
static void complete(struct pending *p)
{
	real.Grequest_complete(p->request);
	drop(p);
}

/* what the MPI calls --------------------------------------------------------------------------- */

static int query(void *extra, void *status)
{
	real.Status_set_elements(status, abi.byte, 0);
	return real.Status_set_cancelled(status, 0);
}

static int release(void *extra)
{
	drop(extra);
	return 0;
}

// One-sided operations cannot be cancelled.
static int cancel(void *extra, int complete) { return 0; }

// MPICH, in calls that are given this request.
static int poll_one(void *extra, void *status)
{
	struct pending *p = extra;
	if (pthread_mutex_trylock(&open.lock))
		return 0; // another thread looks
	bool done = p->number && mpirmago_test(p->number);
	if (done)
		take_out(p);
	pthread_mutex_unlock(&open.lock);
	if (done)
		complete(p);
	return 0;
}

// MPICH, in MPI_Wait: returns without having waited, so that MPICH goes on with its own work and
// asks again.
static int poll_some(int n, void **extra, double timeout, void *status)
{
	for (int i = 0; i < n; i++)
		poll_one(extra[i], NULL);
	return 0;
}

// True in Open MPI, whatever its ABI.
static bool by_progress(void)
{
	return abi.flavour != BOOT_MPI_MPICH && real.progress_register != NULL;
}

// Open MPI, in every call that may wait. Returns how many have been completed.
static int progress(void)
{
	struct pending *done[LOOKS];
	int found = 0;
	if (likely(atomic_load_explicit(&open.n, memory_order_acquire) == 0) ||
		pthread_mutex_trylock(&open.lock))
		return 0;
	for (int left = atomic_load_explicit(&open.n, memory_order_relaxed), i = 0;
		i < left && i < LOOKS; i++) {
		struct pending *p = open.ring;
		open.ring = p->next;
		if (mpirmago_test(p->number)) {
			take_out(p);
			done[found++] = p;
		}
	}
	pthread_mutex_unlock(&open.lock);
	for (int i = 0; i < found; i++)
		complete(done[i]);
	return found;
}

// MPICH does not poll in this function.
PUBLIC int PMPI_Request_get_status(handle request, int *flag, void *status)
{
	if (abi_open() && !by_progress())
		progress();
	return real.Request_get_status(request, flag, status);
}
RMA_ALIAS(Request_get_status)

/* making them ---------------------------------------------------------------------------------- */

static bool can_poll(void)
{
	if (!by_progress())
		return real.grequest_poll != NULL;
	pthread_mutex_lock(&open.lock);
	if (!open.registered)
		open.registered = real.progress_register(progress) == 0;
	pthread_mutex_unlock(&open.lock);
	return open.registered;
}

static int start(struct pending *p)
{
	int failed = by_progress() ?
		real.Grequest_start(query, release, cancel, p, &p->request) :
		real.grequest_poll(query, release, cancel, poll_one, poll_some, p, &p->request);
	if (failed)
		return failed;
	pthread_mutex_lock(&open.lock);
	enter(p);
	pthread_mutex_unlock(&open.lock);
	return 0;
}

static int complete_request(void *request)
{
	handle made = 0;
	int failed = real.Irecv(NULL, 0, abi.byte, abi.proc_null, 0, abi.comm_self, &made);
	rma_set_handle(request, made);
	return failed;
}

int rma_request(struct rma_win *w, const char *function, int32_t number, void *request)
{
	if (number == 0)
		return complete_request(request);
	struct pending *p = can_poll() ? malloc(sizeof *p) : NULL;
	if (!p) {
		mpirmago_wait(number);
		return complete_request(request);
	}
	*p = (struct pending){ .number = number, .uses = 2 };
	int failed = start(p);
	if (failed) {
		free(p);
		mpirmago_wait(number);
		return rma_error(w, function, abi.err_other,
			"request: the MPI refuses a generalised request (error %d)", failed);
	}
	rma_set_handle(request, p->request);
	return 0;
}
