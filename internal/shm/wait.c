// SPDX-License-Identifier: BSD-3-Clause
// Waits of a rank for another rank of its node, by the policy of package wait. The policy's inputs
// are the core on which each rank last waited, and which ranks have left. A waiter sleeps on its
// wake_word, a futex of which each rank has one.
#define _GNU_SOURCE
#include "shm.h"

bool shm_has_left(int peer, bool last)
{
	uint32_t left = atomic_load(&shm.rank[peer].departure);
	return left != SHM_HERE && !(last && left == SHM_ENDING);
}

// With peer < 0 a rank of another node may end the wait, if the job has any.
int shm_departed_peer(int peer)
{
	if (!shm.stuck || !atomic_load(&shm.head->departed))
		return -1;
	if (peer >= 0)
		return shm_has_left(peer, false) ? peer : -1;
	if (shm.head->world > (uint32_t)shm.nlocal)
		return -1;
	int lost = -1;
	for (int i = 0; i < shm.nlocal; i++) {
		if (i == shm.me)
			continue;
		if (!shm_has_left(i, false))
			return -1;
		lost = i;
	}
	return lost;
}

// publish_cpu stores the core of this thread for the other ranks, and returns 1 + its number; 0: it
// is not known.
static uint32_t publish_cpu(void)
{
	shm_u32 *mine = &shm.rank[shm.me].cpu;
	uint32_t cpu = (uint32_t)(wait_cpu() + 1);
	if (atomic_load_explicit(mine, memory_order_relaxed) != cpu)
		atomic_store_explicit(mine, cpu, memory_order_relaxed);
	return cpu;
}

enum { FIRST_STAY = 250000, LONGEST_STAY = 8000000, NO_CORE_STAY = 1000000 };

// leave_core moves the thread to a core on which no rank of the node was seen, if its mask has one.
// It backs off while moves do not last, since a rank of another job may run there.
static bool leave_core(void)
{
	static shm_u64 moved, stay;
	uint64_t now = wait_clock(),
		 rested = now - atomic_load_explicit(&moved, memory_order_relaxed);
	uint64_t least = atomic_load_explicit(&stay, memory_order_relaxed),
		 avoid[WAIT_CPU_WORDS] = {0};
	if (rested < least || shm_crowded())
		return false;
	least = rested < 4 * least ? 2 * least : FIRST_STAY;
	atomic_store_explicit(&stay, least < LONGEST_STAY ? least : LONGEST_STAY,
		memory_order_relaxed);
	atomic_store_explicit(&moved, now, memory_order_relaxed);
	for (int i = 0; i < shm.nlocal; i++) {
		uint32_t cpu = atomic_load_explicit(&shm.rank[i].cpu, memory_order_relaxed);
		if (cpu > 0 && cpu <= WAIT_CPUS)
			avoid[(cpu - 1) / 64] |= 1ull << ((cpu - 1) % 64);
	}
	if (!wait_move(avoid)) { // tried again later: the mask may change
		atomic_store_explicit(&stay, NO_CORE_STAY, memory_order_relaxed);
		return false;
	}
	publish_cpu();
	return true;
}

// place_of returns where a local rank was last seen, relative to this thread; peer < 0: where the
// ranks of the job are that may end the wait.
static enum wait_place place_of(int peer)
{
	uint32_t cpu = publish_cpu();
	if (peer < 0)
		return shm.head->world > (uint32_t)shm.nlocal ? WAIT_FARAWAY : WAIT_ELSEWHERE;
	if (peer == shm.me || cpu == 0 ||
		atomic_load_explicit(&shm.rank[peer].cpu, memory_order_relaxed) != cpu)
		return WAIT_ELSEWHERE;
	return leave_core() ? WAIT_ELSEWHERE : WAIT_BESIDE;
}

void shm_wait_begin(struct wait *w, int peer) { wait_begin(w, place_of(peer), wait_clock()); }

bool shm_poll_receiving(struct wait *w, struct shm_visit *v, shm_cond cond, void *arg, int peer)
{
	enum wait_place place = place_of(peer);
	*v = (struct shm_visit){.ready = -1};
	if (place == WAIT_FARAWAY && shm.receive)
		return shm_receive_until(w, v, cond, arg, peer);
	return wait_look(shm_policy(place), w, place, cond, arg);
}

bool shm_poll(struct wait *w, shm_cond cond, void *arg, int peer)
{
	struct shm_visit visit;
	bool met = shm_poll_receiving(w, &visit, cond, arg, peer);
	shm_end_visit(&visit, met);
	return met;
}

bool shm_lost_slices(void)
{
	uint64_t now = wait_clock();
	return wait_crowded(&shm.policy.crowd, now) || wait_crowded(&shm.remote_policy.crowd, now);
}

// sleep_on_wake_word sleeps until cond is true. Once a second it checks whether a rank is left that
// can make it true; else it ends the job.
static void sleep_on_wake_word(struct shm_visit *v, shm_cond cond, void *arg, const char *what,
	int peer)
{
	struct shm_rank *r = &shm.rank[shm.me];
	atomic_fetch_add(&r->sleepers, 1);
	for (int because = -1;; because = shm_departed_peer(peer)) {
		uint32_t seen = atomic_load(&r->wake_word);
		// pairs with the fence of shm_wake_rank, since cond may use weaker loads
		atomic_thread_fence(memory_order_seq_cst);
		if (cond(arg))
			break;
		if (because >= 0)
			shm.stuck(what, because);
		shm_sleep_on(v, peer, &r->wake_word, seen, 1000);
	}
	atomic_fetch_sub(&r->sleepers, 1);
	shm_end_visit(v, true);
}

void shm_wait(shm_cond cond, void *arg, const char *what, int peer)
{
	struct wait w;
	struct shm_visit visit;
	if (shm_poll_receiving(&w, &visit, cond, arg, peer)) {
		shm_end_visit(&visit, true);
		return;
	}
	sleep_on_wake_word(&visit, cond, arg, what, peer);
	shm_wait_woken(&w, atomic_load_explicit(&shm.rank[shm.me].woken_at, memory_order_relaxed));
}

void shm_wait_woken(struct wait *w, uint64_t woken_at)
{
	publish_cpu(); // the kernel may have moved the thread
	wait_slept(shm_policy(w->place), w, wait_clock(), w->place == WAIT_FARAWAY ? 0 : woken_at);
	wait_done(shm_policy(w->place), w);
}

void shm_wake_rank(int local)
{
	struct shm_rank *r = &shm.rank[local];
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&r->sleepers, memory_order_relaxed)) {
		atomic_store_explicit(&r->woken_at, wait_clock(), memory_order_relaxed);
		atomic_fetch_add(&r->wake_word, 1);
		wait_wake(&r->wake_word, INT32_MAX);
		if (local == shm.me)
			shm_wake_receiver();
	}
}
