/*
 * wait.c - how a stripe lock is waited for. Must not decide that a holder is dead: that is the watchdog's business.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A stripe is held for less than a microsecond, so a waiter polls first. If it is held for longer its holder was
 * probably descheduled (there may be more ranks than cores): give it the core, and in the end sleep, longer each time.
 */
#define _GNU_SOURCE
#include "kernel.h"

#include <sched.h>
#include <time.h>

enum { POLLS = 100, YIELDS = 50, SLEEP_MIN_NS = 1000, SLEEP_MAX_NS = 1000 * 1000 };

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* take tries a word that looks free, without disturbing the holder's cache line otherwise. */
static inline int take(uint32_t *word, uint32_t owner)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED) == 0 && k_try_lock(word, owner);
}

void k_lock_wait(uint32_t *word, uint32_t owner)
{
	struct timespec nap = { 0, SLEEP_MIN_NS };

	for (int i = 0; i < POLLS; i++) {
		if (take(word, owner))
			return;
		relax();
	}
	for (int i = 0; i < YIELDS; i++) {
		if (take(word, owner))
			return;
		sched_yield();
	}
	while (!take(word, owner)) {
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < SLEEP_MAX_NS)
			nap.tv_nsec *= 2;
	}
}
