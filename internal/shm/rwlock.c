// SPDX-License-Identifier: BSD-3-Clause
// Waits for a reader/writer lock: readers and writers queue at its gate, a mutex (lock.c). So
// neither starves the other: a reader does not get in while a writer holds the gate. A writer that
// holds the gate waits here until the readers have left. The ranks of readers are not known: if a
// rank has exited without finalising, and the readers do not leave for seconds, the rank is assumed
// to be one of them.
#include <stddef.h>
#include <time.h>

#include "shm.h"

#define HAS_GATE (1ull << 32) // ticket of a caller that holds the gate and still has to wait

static bool no_remote_writer(void *l) { return shm_no_remote_writer(l); }

// naps are the sleeps of a waiter for a device, which wakes no waiter when it releases the word.
// The waiter polls the word between them, and lets the program's MPI progress, as wait_sleep does.
struct naps {
	unsigned micros, long_ones;
};

// nap_once sleeps, each time twice as long up to a bound.
static void nap_once(struct naps *n)
{
	enum { FIRST = 20, LONGEST = 1000, IDLE_EVERY = 8 };
	n->micros = n->micros == 0 ? FIRST : n->micros < LONGEST / 2 ? n->micros * 2 : LONGEST;
	nanosleep(&(struct timespec){.tv_nsec = n->micros * 1000l}, NULL);
	if (n->micros == LONGEST && n->long_ones++ % IDLE_EVERY == 0 && wait_idle)
		wait_idle();
}

// finish_share waits until no rank of another node writes, then releases the gate. The caller is a
// reader that holds the gate and has counted itself, so that no other writer gets in.
static void finish_share(struct shm_rwlock *l)
{
	struct wait w;
	struct naps naps = {0};
	if (!shm_no_remote_writer(l) && !shm_poll(&w, no_remote_writer, l, SHM_REMOTE)) {
		while (!shm_no_remote_writer(l)) nap_once(&naps);
		shm_wait_woken(&w, 0);
	}
	shm_unlock(&l->gate);
}

void shm_share_slow(struct shm_rwlock *l, uint32_t owner)
{
	shm_lock(&l->gate, owner);
	atomic_fetch_add(&l->readers, 1);
	finish_share(l);
}

bool shm_share_soon(struct shm_rwlock *l, uint32_t owner, uint64_t *ticket)
{
	uint32_t place;
	if (shm_tryshare(l))
		return true;
	if (!shm_lock_soon(&l->gate, owner, &place)) {
		*ticket = place;
		return false;
	}
	atomic_fetch_add(&l->readers, 1);
	*ticket = HAS_GATE;
	if (!shm_no_remote_writer(l))
		return false;
	shm_unlock(&l->gate);
	return true;
}

void shm_share_queued(struct shm_rwlock *l, uint32_t owner, uint64_t ticket)
{
	if (ticket != HAS_GATE) {
		shm_lock_queued(&l->gate, owner, (uint32_t)ticket);
		atomic_fetch_add(&l->readers, 1);
	}
	finish_share(l);
}

bool shm_exclude_soon(struct shm_rwlock *l, uint32_t owner, uint64_t *ticket)
{
	uint32_t place;
	if (!shm_lock_soon(&l->gate, owner, &place)) {
		*ticket = place;
		return false;
	}
	*ticket = HAS_GATE;
	return shm_no_other_holder(l);
}

void shm_exclude_queued(struct shm_rwlock *l, uint32_t owner, uint64_t ticket)
{
	if (ticket != HAS_GATE)
		shm_lock_queued(&l->gate, owner, (uint32_t)ticket);
	shm_wait_for_readers(l);
}

// lost_reader returns a local rank that has exited and may be a reader; -1: none. seconds: how long
// the writer has slept.
static int lost_reader(unsigned seconds)
{
	enum { PATIENCE = 3 };
	int lost = shm_departed_peer(-1);
	for (int i = 0; lost < 0 && seconds >= PATIENCE && atomic_load(&shm.head->departed) &&
		i < shm.nlocal;
		i++) {
		uint32_t left = atomic_load(&shm.rank[i].departure);
		if (left == SHM_EXITED || left == SHM_WITHDRAWN)
			lost = i;
	}
	return shm.stuck ? lost : -1;
}

// sleep_for_readers sleeps until readers and word are 0. It sleeps on draining, not on readers,
// which a newcomer changes for a moment before it finds the gate taken.
static void sleep_for_readers(struct shm_rwlock *l)
{
	int because = -1;
	struct naps naps = {0};
	for (unsigned seconds = 0;;) {
		// Before reading readers: the last reader leaves, then reads draining.
		atomic_store(&l->draining, 1);
		uint64_t word = shm_rwlock_word(l);
		if (word == 0 && shm_no_local_reader(l))
			break;
		if (because >= 0)
			shm.stuck("MPI_Win_lock", because);
		if (word != 0) {
			nap_once(&naps);
		} else {
			wait_sleep(&l->draining, 1, 1000);
			because = lost_reader(++seconds);
		}
	}
	atomic_store_explicit(&l->draining, 0, memory_order_relaxed);
}

static bool no_other_holder(void *arg) { return shm_no_other_holder(arg); }

void shm_wait_for_readers(struct shm_rwlock *l)
{
	struct wait w;
	if (shm_poll(&w, no_other_holder, l, -1))
		return;
	sleep_for_readers(l);
	shm_wait_woken(&w, 0);
}

void shm_unshare_slow(struct shm_rwlock *l)
{
	if (atomic_exchange(&l->draining, 0))
		wait_wake(&l->draining, 1);
}
