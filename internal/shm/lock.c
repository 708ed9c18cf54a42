// SPDX-License-Identifier: BSD-3-Clause
// Waits for a mutex of the node, in a ticket queue: its head competes with a bounded number of
// newcomers. A strict hand-over would cost a context switch per lock when ranks outnumber cores;
// unbounded barging would starve the queue. While the head runs on a core of its own, it gets the
// lock after at most SHM_BARGE newcomers, about a microsecond. If it does not run, or ranks share
// cores, running ranks pass the lock among themselves until the head has waited for SHM_PATIENCE.
// From then on newcomers queue, too, and yield their cores to the next in the queue. (Measured with
// 4 and 8 ranks on 2 cores: a bound by count alone costs a context switch each time and 15 times
// the rate; shorter patience costs rate, longer patience costs fairness.)
//
// A head that waits for a rank of another node lets fewer newcomers pass. That rank tries again
// only after a round trip, while ranks here take the lock without a pause. So it would get a small
// share where the lock is held for long. Dead owners are not detected here: a rank that dies ends
// the job (liveness.go).
#include "shm.h"

#define SHM_BARGE    64u     // newcomers that may pass a running head in a row; a power of two
#define SHM_PATIENCE 200000u // ns

#define REMOTE_BARGE    1u     // of a head that waits for a rank of another node
#define REMOTE_PATIENCE 10000u // ns

// try_acquire takes the lock if it is free, whether or not there is a queue.
static bool try_acquire(struct shm_mutex *m, uint32_t owner)
{
	uint32_t none = 0;
	return atomic_load_explicit(&m->owner, memory_order_relaxed) == 0 &&
		atomic_compare_exchange_strong_explicit(&m->owner, &none, owner,
			memory_order_seq_cst, memory_order_relaxed);
}

bool shm_trylock(struct shm_mutex *m, uint32_t owner)
{
	return atomic_load_explicit(&m->next, memory_order_relaxed) ==
		atomic_load_explicit(&m->serving, memory_order_relaxed) &&
		try_acquire(m, owner);
}

// end_if_owner_left ends the job if the owner has left without releasing the lock.
static void end_if_owner_left(struct shm_mutex *m)
{
	uint32_t owner = atomic_load(&m->owner);
	for (int i = 0; owner && i < shm.nlocal; i++)
		if (shm.rank[i].world + 1 == (int32_t)owner && shm_has_left(i, false) &&
			atomic_load(&m->owner) == owner)
			shm.stuck("ARMCI_Lock", i);
}

// sleep_on_word sleeps while *word is `seen`, a second at most, then checks for an owner that has
// left.
static void sleep_on_word(struct shm_mutex *m, shm_u32 *word, uint32_t seen)
{
	if (atomic_load(word) == seen)
		wait_sleep(word, seen, 1000);
	if (shm.stuck && atomic_load(&shm.head->departed))
		end_if_owner_left(m);
}

// pauses_before returns the cpu_relax calls before a poll. They grow, since a waiter that polls
// without a pause slows the owner down.
static unsigned pauses_before(unsigned round) { return 8u << (round < 7 ? round : 7); }

static int owner_of(struct shm_mutex *m)
{
	return shm_local_of((int)atomic_load_explicit(&m->owner, memory_order_relaxed) - 1);
}

// wait_for_turn waits until the caller is the head of the queue.
static void wait_for_turn(struct shm_mutex *m, uint32_t ticket)
{
	struct wait w;
	shm_wait_begin(&w, owner_of(m));
	for (unsigned round = 0;; round++) {
		uint32_t now = atomic_load_explicit(&m->serving, memory_order_acquire);
		if (now == ticket)
			break;
		if (wait_pause(shm_policy(w.place), &w, pauses_before(round)))
			continue;
		atomic_fetch_add(&m->sleepers, 1);
		sleep_on_word(m, &m->serving, now);
		atomic_fetch_sub(&m->sleepers, 1);
		wait_slept(shm_policy(w.place), &w, wait_clock(), 0);
	}
	wait_done(shm_policy(w.place), &w);
}

// pause_as_head yields or sleeps. It sets head_paused first, so that newcomers may take the lock
// while the head does not run. A full barrier precedes the head's next check.
static void pause_as_head(struct shm_mutex *m, struct wait *w)
{
	atomic_store(&m->head_paused, 1);
	if (!wait_pause(shm_policy(w->place), w, 0)) {
		atomic_store(&m->head_asleep, 1);
		if (atomic_load(&m->owner))
			// not on owner: the same rank may have released and taken it again
			sleep_on_word(m, &m->head_asleep, 1);
		atomic_store_explicit(&m->head_asleep, 0, memory_order_relaxed);
		wait_slept(shm_policy(w->place), w, wait_clock(), 0);
	}
	atomic_store_explicit(&m->head_paused, 0, memory_order_relaxed);
}

static bool is_local(uint32_t owner)
{
	for (int i = 0; i < shm.nlocal; i++)
		if (shm.rank[i].world + 1 == (int32_t)owner)
			return true;
	return false;
}

// acquire_as_head waits for the lock as the head of the queue, and takes it.
static void acquire_as_head(struct shm_mutex *m, uint32_t owner)
{
	atomic_store_explicit(&m->head_is_remote, !is_local(owner), memory_order_relaxed);
	atomic_store_explicit(&m->head_paused, 0, memory_order_relaxed);
	struct wait w;
	shm_wait_begin(&w, owner_of(m));
	for (unsigned round = 0; !try_acquire(m, owner); round++) {
		if (wait_next(shm_policy(w.place), &w) == WAIT_LOOK)
			wait_pause(shm_policy(w.place), &w, pauses_before(round));
		else
			pause_as_head(m, &w);
	}
	wait_done(shm_policy(w.place), &w);
}

// may_barge reports whether a newcomer may pass the queue. barged: newcomers that have passed this
// head.
static bool may_barge(struct shm_mutex *m, uint32_t barged)
{
	bool remote = atomic_load_explicit(&m->head_is_remote, memory_order_relaxed);
	uint32_t most = remote ? REMOTE_BARGE : SHM_BARGE;
	if (barged < most)
		return true;
	if (!shm_crowded() && !atomic_load_explicit(&m->head_paused, memory_order_relaxed))
		return false;
	if (barged % most)
		return true;
	uint64_t now = wait_clock(), since = atomic_load_explicit(&m->since, memory_order_relaxed);
	if (since == 0)
		atomic_store_explicit(&m->since, now, memory_order_relaxed);
	return since == 0 || now - since < (remote ? REMOTE_PATIENCE : SHM_PATIENCE);
}

// try_barge takes the lock as a newcomer; false: it is taken, or the queue goes first.
static bool try_barge(struct shm_mutex *m, uint32_t owner)
{
	uint32_t barged = atomic_load_explicit(&m->barged, memory_order_relaxed);
	if (!may_barge(m, barged) || !try_acquire(m, owner))
		return false;
	atomic_store_explicit(&m->barged, barged + 1, memory_order_relaxed);
	return true;
}

// promote_next makes the next in the queue the head. The caller was the head and holds the lock.
static void promote_next(struct shm_mutex *m, uint32_t ticket)
{
	atomic_store_explicit(&m->barged, 0, memory_order_relaxed);
	atomic_store_explicit(&m->since, 0, memory_order_relaxed);
	atomic_store_explicit(&m->head_is_remote, 0, memory_order_relaxed);
	// head_paused: the next head is not known to run yet
	atomic_store_explicit(&m->head_paused, 1, memory_order_relaxed);
	atomic_store(&m->serving, ticket + 1);
	if (atomic_load(&m->sleepers))
		wait_wake(&m->serving, INT32_MAX);
}

void shm_lock_queued(struct shm_mutex *m, uint32_t owner, uint32_t ticket)
{
	wait_for_turn(m, ticket);
	acquire_as_head(m, owner);
	promote_next(m, ticket);
}

void shm_lock_slow(struct shm_mutex *m, uint32_t owner)
{
	if (!try_barge(m, owner))
		shm_lock_queued(m, owner, atomic_fetch_add(&m->next, 1));
}

bool shm_lock_soon(struct shm_mutex *m, uint32_t owner, uint32_t *ticket)
{
	enum { SOON = 10000 }; // ns, for locks that are held briefly
	if (try_barge(m, owner))
		return true;
	*ticket = atomic_fetch_add(&m->next, 1);
	bool remote = !is_local(owner), late = false;
	uint64_t end = wait_clock() + SOON;
	for (unsigned round = 0; !late; round++) {
		late = wait_clock() >= end;
		bool head = atomic_load_explicit(&m->serving, memory_order_acquire) == *ticket;
		if (head && try_acquire(m, owner)) {
			promote_next(m, *ticket);
			return true;
		}
		if (head) {
			atomic_store_explicit(&m->head_is_remote, remote, memory_order_relaxed);
			atomic_store_explicit(&m->head_paused, late, memory_order_relaxed);
		}
		for (unsigned i = late ? 0 : pauses_before(round); i > 0; i--) cpu_relax();
	}
	return false;
}

bool shm_pass_on(struct shm_mutex *m, uint32_t to)
{
	if (atomic_load(&m->next) != atomic_load(&m->serving))
		return false;
	atomic_exchange(&m->owner, to); // newcomers find it taken and queue
	return true;
}

void shm_unlock_slow(struct shm_mutex *m)
{
	if (atomic_exchange(&m->head_asleep, 0))
		wait_wake(&m->head_asleep, 1);
}
