// SPDX-License-Identifier: BSD-3-Clause
// How a rank waits for another one of its node: it polls briefly, then yields the core, then sleeps on a futex.
// More ranks than cores is normal, so nothing here may poll without limit.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shm.h"

enum { MILLISECOND = 1000000, SECOND = 1000 * MILLISECOND };
enum { SHORTEST_NAP = MILLISECOND, LONGEST_NAP = 256 * MILLISECOND, WORKED = 150000 };

_Thread_local void (*shm_idle)(void) __attribute__((tls_model("initial-exec")));

static bool futex_timed_out(shm_u32 *word, uint32_t seen, uint64_t nanos)
{
	struct timespec t = {.tv_sec = (time_t)(nanos / SECOND), .tv_nsec = (long)(nanos % SECOND)};
	return syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0) != 0 && errno == ETIMEDOUT;
}

// Naps between two calls of shm_idle become longer until somebody wakes the thread; after a call that took so long that it has done
// something they are shorter again. A call costs some 70 us, since everything is cold: four in a second are not noticed.
void shm_futex_wait(shm_u32 *word, uint32_t seen, unsigned millis)
{
	static _Thread_local uint64_t nap = SHORTEST_NAP;
	if (!shm_idle) {
		futex_timed_out(word, seen, (uint64_t)millis * MILLISECOND);
		return;
	}
	uint64_t now = shm_nanoseconds(), end = now + (uint64_t)millis * MILLISECOND;
	while (now < end) {
		if (!futex_timed_out(word, seen, nap < end - now ? nap : end - now)) {
			nap = SHORTEST_NAP;
			return;
		}
		uint64_t begin = shm_nanoseconds();
		shm_idle();
		now = shm_nanoseconds();
		if (now - begin > WORKED)
			nap = nap > 16 * SHORTEST_NAP ? nap / 16 : SHORTEST_NAP;
		else if (nap < LONGEST_NAP)
			nap *= 4;
	}
}

void shm_futex_wake(shm_u32 *word, int n) { syscall(SYS_futex, word, FUTEX_WAKE, n, NULL, NULL, 0); }

bool shm_gone(int peer, bool last)
{
	uint32_t left = atomic_load(&shm.rank[peer].left);
	return left != SHM_HERE && !(last && left == SHM_ENDING);
}

// With peer -1 the caller waits for any rank, which may be one of another node.
int shm_in_vain(int peer)
{
	if (!shm.stuck || !atomic_load(&shm.head->departed))
		return -1;
	if (peer >= 0)
		return shm_gone(peer, false) ? peer : -1;
	if (shm.head->world > (uint32_t)shm.nlocal)
		return -1;
	int who = -1;
	for (int i = 0; i < shm.nlocal; i++) {
		if (i == shm.me)
			continue;
		if (!shm_gone(i, false))
			return -1;
		who = i;
	}
	return who;
}

// Sleeps until cond is true; checks once a second whether it can still become true.
static void sleep_on_bell(shm_cond cond, void *arg, const char *what, int peer)
{
	struct shm_rank *r = &shm.rank[shm.me];
	atomic_fetch_add(&r->sleepers, 1);
	for (int because = -1;; because = shm_in_vain(peer)) {
		uint32_t seen = atomic_load(&r->bell);
		atomic_thread_fence(memory_order_seq_cst); // against that of shm_ring: cond may use weaker loads
		if (cond(arg))
			break;
		if (because >= 0)
			shm.stuck(what, because);
		shm_futex_wait(&r->bell, seen, 1000);
	}
	atomic_fetch_sub(&r->sleepers, 1);
}

// Polling is useful while the peer is running. If the last waits ended by yielding instead, the peer shares my core or is
// busy for long: then polling is reduced, down to almost none, until it is successful again.
unsigned shm_polls(void)
{
	uint32_t polls = atomic_load_explicit(&shm.polls, memory_order_relaxed);
	return polls < shm.spin ? polls : shm.spin;
}

void shm_polled(bool successful)
{
	unsigned polls = shm_polls(), least = shm.spin < SHM_SPIN_CROWDED ? shm.spin : SHM_SPIN_CROWDED;
	if (successful)
		polls += polls / 8 + 1;
	else
		polls = polls / 2 > least ? polls / 2 : least;
	atomic_store_explicit(&shm.polls, polls, memory_order_relaxed);
}

uint64_t shm_nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Where somebody computes on the core, a yield costs a time slice, whatever comes meanwhile; who sleeps instead may run as
// soon as he is woken. The rule and the times are those of package cores (crowd.go).
enum { LOST_SLICE = 500000, FIRST_SPELL = 2000000, LONGEST_SPELL = 250000000 };
static _Atomic uint64_t spell, spell_end; // of this process, in nanoseconds

bool shm_yielded(uint64_t nanos)
{
	if (nanos < LOST_SLICE)
		return true;
	uint64_t now = shm_nanoseconds();
	uint64_t end = atomic_load_explicit(&spell_end, memory_order_relaxed);
	uint64_t next = 2 * atomic_load_explicit(&spell, memory_order_relaxed);
	if (next == 0 || now > end + next)
		next = FIRST_SPELL;
	next = next < LONGEST_SPELL ? next : LONGEST_SPELL;
	atomic_store_explicit(&spell, next, memory_order_relaxed);
	atomic_store_explicit(&spell_end, now + next, memory_order_relaxed);
	return false;
}

bool shm_lost_slices(void) { return shm_nanoseconds() < atomic_load_explicit(&spell_end, memory_order_relaxed); }

bool shm_yield(void)
{
	uint64_t begin = shm_nanoseconds();
	if (begin < atomic_load_explicit(&spell_end, memory_order_relaxed))
		return false;
	sched_yield();
	return shm_yielded(shm_nanoseconds() - begin);
}

// How long to yield for what may come from another node, in nanoseconds. Who shares this core then may be the node's data
// server, which a yield of a waiter costs as much as it does the waiter.
enum { FAR_YIELDS = 200000 };

// Receives what comes from other nodes, and yields while nothing does; false if that takes long.
static bool receive_until(shm_cond cond, void *arg)
{
	int32_t visit = 0;
	uint64_t begin = shm_nanoseconds();
	bool met;
	while (!(met = cond(arg))) {
		if (shm.receive(&visit) == 0 && (!shm_yield() || shm_nanoseconds() - begin > FAR_YIELDS))
			break;
	}
	shm.leave(&visit);
	return met;
}

// How often to look before the waiter receives: another rank of the node may be about to store.
enum { LOOKS_BEFORE_RECEIVING = 20 };

static bool look_far(shm_cond cond, void *arg)
{
	for (unsigned i = 0; i < LOOKS_BEFORE_RECEIVING; i++) {
		if (cond(arg))
			return true;
		shm_relax();
	}
	return receive_until(cond, arg);
}

bool shm_look(shm_cond cond, void *arg, int peer)
{
	bool far = peer < 0 && shm.head->world > (uint32_t)shm.nlocal; // it may come from another node
	if (far && shm.receive)
		return look_far(cond, arg);
	for (unsigned i = shm_polls(); i > 0; i--) {
		if (cond(arg)) {
			shm_polled(true);
			return true;
		}
		shm_relax();
	}
	shm_polled(false);
	uint64_t begin = far ? shm_nanoseconds() : 0;
	for (unsigned i = 0; i < shm.yield; i++) {
		if (cond(arg))
			return true;
		if (!shm_yield() || (far && shm_nanoseconds() - begin > FAR_YIELDS))
			break;
	}
	return false;
}

void shm_wait(shm_cond cond, void *arg, const char *what, int peer)
{
	if (!shm_look(cond, arg, peer))
		sleep_on_bell(cond, arg, what, peer);
}

void shm_ring(int local)
{
	struct shm_rank *r = &shm.rank[local];
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&r->sleepers, memory_order_relaxed)) {
		atomic_fetch_add(&r->bell, 1);
		shm_futex_wake(&r->bell, INT32_MAX);
	}
}
