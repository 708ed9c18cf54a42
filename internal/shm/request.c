// SPDX-License-Identifier: BSD-3-Clause
// Copies of a rank's private memory by a thread of that rank, where the kernel lets no other
// process access it. The thread waits at a request slot in the arena. A requester stores a list of
// pieces there, with the bytes to be written, or reads the bytes that the thread has copied. The
// thread takes no lock, calls nothing of MPI or Go, and sleeps while there is no request.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "request.h"
#include "shm.h"

enum { NAP_MS = 100, SLEEP_MS = 60000 };

static pthread_t helper;
static bool running;
static shm_u32 ending;
static struct wait_policy policy; // of the helper thread

/* the owner's side */

// copy_self copies between the slot and this process's memory. It uses the kernel, so that memory
// that is not mapped is an error and not a crash.
static int copy_self(struct shm_request_slot *d, struct iovec *pieces, unsigned n, size_t bytes)
{
	struct iovec data = {d->data, bytes};
	ssize_t got = d->write ? process_vm_writev(getpid(), &data, 1, pieces, n, 0)
	                       : process_vm_readv(getpid(), &data, 1, pieces, n, 0);
	if (got >= 0)
		return (size_t)got == bytes ? 0 : EFAULT;
	if (errno != ENOSYS && errno != EPERM)
		return errno;
	uint8_t *at = d->data;
	for (unsigned i = 0; i < n; at += pieces[i++].iov_len)
		memcpy(d->write ? pieces[i].iov_base : at, d->write ? at : pieces[i].iov_base,
			pieces[i].iov_len);
	return 0;
}

// execute_request executes the request in this rank's slot, if its pieces lie in regions of this
// rank. 0 or an errno.
static int execute_request(struct shm_request_slot *d)
{
	struct iovec pieces[SHM_REQUEST_RUNS];
	size_t bytes = 0;
	unsigned n = d->runs < SHM_REQUEST_RUNS ? d->runs : SHM_REQUEST_RUNS;
	for (unsigned i = 0; i < n; i++) {
		struct shm_found f;
		uint64_t addr = d->run[i].addr, some = (uint64_t)d->run[i].bytes;
		if (!shm_find(shm.me, addr, &f) || some > f.hi - addr ||
			some > SHM_REQUEST_BYTES - bytes)
			return EFAULT;
		pieces[i] = (struct iovec){(void *)(uintptr_t)addr, some};
		bytes += some;
	}
	return copy_self(d, pieces, n, bytes);
}

// A wait until the number of a request is no longer `seen`.
struct turn {
	shm_u32 *number;
	uint32_t seen;
};

static bool has_request(void *arg)
{
	struct turn *t = arg;
	return atomic_load(t->number) != t->seen || atomic_load(&ending);
}

// await_request waits for a request after number `seen`, or for the end of the thread.
static void await_request(struct shm_request_slot *d, uint32_t seen)
{
	struct turn t = {&d->request_seq, seen};
	struct wait w;
	if (wait_look(&policy, &w, WAIT_ELSEWHERE, has_request, &t))
		return;
	while (!has_request(&t)) {
		atomic_store(&d->owner_asleep, 1);
		if (!has_request(&t))
			wait_sleep(&d->request_seq, seen, SLEEP_MS);
		atomic_store(&d->owner_asleep, 0);
	}
	wait_slept(&policy, &w, wait_clock(), 0);
	wait_done(&policy, &w);
}

// serve_requests is the owner's thread: it carries out requests until shm_request_thread_stop.
static void *serve_requests(void *arg)
{
	struct shm_request_slot *d = arg;
	for (uint32_t seen = atomic_load(&d->reply_seq);; seen++) {
		await_request(d, seen);
		if (atomic_load(&d->request_seq) == seen)
			return NULL;
		d->error = execute_request(d);
		atomic_store(&d->reply_seq, seen + 1);
		if (atomic_load(&d->requester_asleep))
			wait_wake(&d->reply_seq, 1);
	}
}

int shm_request_thread_start(void)
{
	struct shm_request_slot *d = shm_request_slot(shm.me);
	sigset_t all, was;
	atomic_store(&ending, 0);
	wait_policy_open(&policy, atomic_load(&shm.policy.wake), shm.policy.spin);
	wait_policy_tune(&policy, shm.policy.quick, shm.policy.own_yield);
	sigfillset(&all);
	// the application's signals are not for this thread
	pthread_sigmask(SIG_SETMASK, &all, &was);
	int err = pthread_create(&helper, NULL, serve_requests, d);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (err)
		return err;
	pthread_setname_np(helper, "armci-desk");
	running = true;
	atomic_store(&d->thread_runs, 1);
	return 0;
}

void shm_request_thread_stop(void)
{
	if (!running)
		return;
	atomic_store(&ending, 1);
	wait_wake(&shm_request_slot(shm.me)->request_seq, 1);
	while (pthread_tryjoin_np(helper, NULL) == EBUSY) { // it may just be going to sleep
		wait_wake(&shm_request_slot(shm.me)->request_seq, 1);
		sched_yield();
	}
	running = false;
}

/* the requester's side */

static bool has_reply(void *arg)
{
	struct turn *t = arg;
	return atomic_load(t->number) != t->seen;
}

// request_copy has the owner carry out the request in its slot. 0 or an errno; ESRCH: the owner has
// left. The caller holds the lock of the slot.
static int request_copy(struct shm_request_slot *d, int local)
{
	uint32_t number = atomic_load(&d->reply_seq) + 1;
	atomic_store(&d->request_seq, number);
	if (atomic_load(&d->owner_asleep))
		wait_wake(&d->request_seq, 1);
	struct turn t = {&d->reply_seq, number - 1};
	struct wait w;
	if (wait_look(&shm.policy, &w, WAIT_ELSEWHERE, has_reply, &t))
		return d->error;
	while (!has_reply(&t)) {
		atomic_store(&d->requester_asleep, 1);
		if (!has_reply(&t))
			wait_sleep(&d->reply_seq, number - 1, NAP_MS);
		atomic_store(&d->requester_asleep, 0);
		if (atomic_load(&shm.rank[local].departure) >= SHM_FINALISED && !has_reply(&t))
			return ESRCH;
	}
	shm_wait_woken(&w, 0);
	return d->error;
}

// store_request stores a request in the slot, for as many of the runs as fit. done: bytes of the
// first run that have been copied before. It returns the bytes of the request. The caller holds the
// slot's lock.
static size_t store_request(struct shm_request_slot *d, const struct k_run *r, size_t n,
	size_t done, bool write)
{
	size_t bytes = 0;
	uint32_t m = 0;
	for (; m < SHM_REQUEST_RUNS && m < n && bytes < SHM_REQUEST_BYTES; m++, done = 0) {
		size_t some = (size_t)r[m].bytes - done;
		if (some > SHM_REQUEST_BYTES - bytes)
			some = SHM_REQUEST_BYTES - bytes;
		d->run[m].addr = r[m].remote + done;
		d->run[m].bytes = (int64_t)some;
		if (write)
			memcpy(d->data + bytes, (const void *)(r[m].local + done), some);
		bytes += some;
	}
	d->runs = m;
	d->write = write;
	return bytes;
}

// fetch_reply copies the bytes that the owner has read from the slot to the requester's memory.
static void fetch_reply(const struct shm_request_slot *d, const struct k_run *r, size_t done)
{
	const uint8_t *at = d->data;
	for (uint32_t m = 0; m < d->runs; at += d->run[m++].bytes, done = 0)
		memcpy((void *)(r[m].local + done), at, (size_t)d->run[m].bytes);
}

int shm_request_move(int local, const struct k_run *r, size_t n, bool write)
{
	struct shm_request_slot *d = shm_request_slot(local);
	if (!atomic_load(&d->thread_runs))
		return EPERM;
	int err = 0;
	shm_lock(&d->lock, (uint32_t)shm.rank[shm.me].world + 1);
	for (size_t done = 0; n > 0 && !err;) {
		size_t bytes = store_request(d, r, n, done, write);
		err = request_copy(d, local);
		if (!err && !write)
			fetch_reply(d, r, done);
		for (done += bytes; n > 0 && done >= (size_t)r->bytes; n--)
			done -= (size_t)(r++)->bytes;
	}
	shm_unlock(&d->lock);
	return err;
}
