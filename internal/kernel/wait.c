/*
 * wait.c - how a stripe lock is waited for. Must not decide that a holder is dead: that is the
 * watchdog's business.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A stripe is held for less than a microsecond, so a waiter polls first. If it is held for longer
 * its holder was probably descheduled (there may be more ranks than cores): give it the core, and
 * in the end sleep, longer each time.
 *
 * Neither a futex nor the policy of internal/wait: a futex would have the holder look for sleepers
 * at each unlock, behind a fence, and every accumulate would pay for a wait that hardly any has.
 * The policy learns from waits of one kind how long the next one takes. Here that is known, unless
 * the holder has no core; then no earlier wait tells for how long, and giving up the core is what
 * helps.
 */
#define _GNU_SOURCE
#include "cpu.h"
#include "kernel.h"

#include <sched.h>
#include <time.h>

enum { POLLS = 100, YIELDS = 50, SLEEP_MIN_NS = 1000, SLEEP_MAX_NS = 1000 * 1000 };

/* take tries a word that looks free, without disturbing the holder's cache line otherwise. */
static inline int take(k_lock_word *word, uint32_t owner)
{
	return atomic_load_explicit(word, memory_order_relaxed) == 0 && k_try_lock(word, owner);
}

/* pause_before is what a waiter does before look number `look`. */
static void pause_before(int look)
{
	int over = look - POLLS - YIELDS;

	if (look < POLLS) {
		cpu_relax();
	} else if (over < 0) {
		sched_yield();
	} else {
		struct timespec nap = { 0, SLEEP_MIN_NS };

		while (over-- > 0 && nap.tv_nsec < SLEEP_MAX_NS)
			nap.tv_nsec *= 2;
		nanosleep(&nap, NULL);
	}
}

void k_lock_wait(k_lock_word *word, uint32_t owner)
{
	for (int look = 0; !take(word, owner); look++)
		pause_before(look);
}

/* device_in tells whether a device has the stripe. The caller's own word is visible to devices
 * before this looks. */
static int device_in(k_lock_word *word)
{
	/* a fence, which the thread sanitizer does not know by itself */
	atomic_fetch_add(word, 0);
	return atomic_load((_Atomic uint64_t *)(void *)(word + K_DEVICE_WORD)) != 0;
}

void k_lock_beside_device(k_lock_word *word, uint32_t owner)
{
	while (device_in(word)) {
		k_unlock(word);
		for (int look = 0; device_in(word); look++)
			pause_before(look);
		k_lock_wait(word, owner);
	}
}
