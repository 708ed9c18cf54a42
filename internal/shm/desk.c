// SPDX-License-Identifier: BSD-3-Clause Copies of a rank's private memory by a thread of that rank,
// where the kernel lets no other process access it. The thread waits at a request slot in the
// arena. A requester stores a list of pieces there, with the bytes to be written, or reads the
// bytes that the thread has copied. The thread takes no lock, calls nothing of MPI or Go, and
// sleeps while there is no request.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "desk.h"
#include "shm.h"

enum { NAP_MS = 100, SLEEP_MS = 60000 };

static pthread_t helper;
static bool running;
static shm_u32 ending;
static struct wait_policy policy; // of the helper thread

/* the owner's side */

// copy_self copies between the slot and this process's memory. It uses the kernel, so that memory
// that is not mapped is an error and not a crash.
static int copy_self(struct shm_desk *d, struct iovec *pieces, unsigned n, size_t bytes)
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

// carry_out executes the request in this rank's slot, if its pieces lie in regions of this rank. 0
// or an errno.
static int carry_out(struct shm_desk *d)
{
	struct iovec pieces[SHM_DESK_RUNS];
	size_t bytes = 0;
	unsigned n = d->runs < SHM_DESK_RUNS ? d->runs : SHM_DESK_RUNS;
	for (unsigned i = 0; i < n; i++) {
		struct shm_found f;
		uint64_t addr = d->run[i].addr, some = d->run[i].bytes;
		if (!shm_find(shm.me, addr, &f) || some > f.hi - addr ||
			some > SHM_DESK_BYTES - bytes)
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

static bool requested(void *arg)
{
	struct turn *t = arg;
	return atomic_load(t->number) != t->seen || atomic_load(&ending);
}

// await_request waits for a request after number `seen`, or for the end of the thread.
static void await_request(struct shm_desk *d, uint32_t seen)
{
	struct turn t = {&d->asked, seen};
	struct wait w;
	if (wait_look(&policy, &w, WAIT_ELSEWHERE, requested, &t))
		return;
	while (!requested(&t)) {
		atomic_store(&d->asleep, 1);
		if (!requested(&t))
			wait_sleep(&d->asked, seen, SLEEP_MS);
		atomic_store(&d->asleep, 0);
	}
	wait_slept(&policy, &w, wait_clock(), 0);
	wait_done(&policy, &w);
}

// help is the owner's thread: it carries out requests until shm_desk_close.
static void *help(void *arg)
{
	struct shm_desk *d = arg;
	for (uint32_t seen = atomic_load(&d->answered);; seen++) {
		await_request(d, seen);
		if (atomic_load(&d->asked) == seen)
			return NULL;
		d->error = carry_out(d);
		atomic_store(&d->answered, seen + 1);
		if (atomic_load(&d->dozing))
			wait_wake(&d->answered, 1);
	}
}

int shm_desk_open(void)
{
	struct shm_desk *d = shm_desk(shm.me);
	sigset_t all, was;
	atomic_store(&ending, 0);
	wait_policy_open(&policy, atomic_load(&shm.policy.wake), shm.policy.spin);
	wait_policy_tune(&policy, shm.policy.quick, shm.policy.own_yield);
	sigfillset(&all);
	// the application's signals are not for this thread
	pthread_sigmask(SIG_SETMASK, &all, &was);
	int err = pthread_create(&helper, NULL, help, d);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (err)
		return err;
	pthread_setname_np(helper, "armci-desk");
	running = true;
	atomic_store(&d->open, 1);
	return 0;
}

void shm_desk_close(void)
{
	if (!running)
		return;
	atomic_store(&ending, 1);
	wait_wake(&shm_desk(shm.me)->asked, 1);
	while (pthread_tryjoin_np(helper, NULL) == EBUSY) { // it may just be going to sleep
		wait_wake(&shm_desk(shm.me)->asked, 1);
		sched_yield();
	}
	running = false;
}

/* the requester's side */

static bool answered(void *arg)
{
	struct turn *t = arg;
	return atomic_load(t->number) != t->seen;
}

// ask has the owner carry out the request in its slot. 0 or an errno; ESRCH: the owner has left.
// The caller holds the lock of the slot.
static int ask(struct shm_desk *d, int local)
{
	uint32_t number = atomic_load(&d->answered) + 1;
	atomic_store(&d->asked, number);
	if (atomic_load(&d->asleep))
		wait_wake(&d->asked, 1);
	struct turn t = {&d->answered, number - 1};
	struct wait w;
	if (wait_look(&shm.policy, &w, WAIT_ELSEWHERE, answered, &t))
		return d->error;
	while (!answered(&t)) {
		atomic_store(&d->dozing, 1);
		if (!answered(&t))
			wait_sleep(&d->answered, number - 1, NAP_MS);
		atomic_store(&d->dozing, 0);
		if (atomic_load(&shm.rank[local].left) >= SHM_FINALISED && !answered(&t))
			return ESRCH;
	}
	shm_woken(&w, 0);
	return d->error;
}

// lay stores a request in the slot, for as many of the runs as fit. done: bytes of the first run
// that have been copied before. It returns the bytes of the request. The caller holds the slot's
// lock.
static size_t lay(struct shm_desk *d, const struct shm_run *r, size_t n, size_t done, bool write)
{
	size_t bytes = 0;
	uint32_t m = 0;
	for (; m < SHM_DESK_RUNS && m < n && bytes < SHM_DESK_BYTES; m++, done = 0) {
		size_t some = (size_t)r[m].bytes - done;
		if (some > SHM_DESK_BYTES - bytes)
			some = SHM_DESK_BYTES - bytes;
		d->run[m].addr = r[m].theirs + done;
		d->run[m].bytes = some;
		if (write)
			memcpy(d->data + bytes, (const void *)(r[m].mine + done), some);
		bytes += some;
	}
	d->runs = m;
	d->write = write;
	return bytes;
}

// take copies the bytes that the owner has read from the slot to the requester's memory.
static void take(const struct shm_desk *d, const struct shm_run *r, size_t done)
{
	const uint8_t *at = d->data;
	for (uint32_t m = 0; m < d->runs; at += d->run[m++].bytes, done = 0)
		memcpy((void *)(r[m].mine + done), at, d->run[m].bytes);
}

int shm_desk_move(int local, const struct shm_run *r, size_t n, bool write)
{
	struct shm_desk *d = shm_desk(local);
	if (!atomic_load(&d->open))
		return EPERM;
	int err = 0;
	shm_lock(&d->lock, (uint32_t)shm.rank[shm.me].world + 1);
	for (size_t done = 0; n > 0 && !err;) {
		size_t bytes = lay(d, r, n, done, write);
		err = ask(d, local);
		if (!err && !write)
			take(d, r, done);
		for (done += bytes; n > 0 && done >= (size_t)r->bytes; n--)
			done -= (size_t)(r++)->bytes;
	}
	shm_unlock(&d->lock);
	return err;
}
