// SPDX-License-Identifier: BSD-3-Clause
// Carries the policy out for a condition in memory: a few looks without the clock, then looks,
// yields and readings of the clock as the policy says. It never sleeps.
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "wait.h"

uint64_t wait_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool wait_quick(const struct wait_policy *p, wait_cond cond, void *arg)
{
	for (uint32_t i = p->quick; i > 0; i--) {
		if (cond(arg))
			return true;
		cpu_relax();
	}
	return false;
}

bool wait_look(struct wait_policy *p, struct wait *w, enum wait_place place, wait_cond cond,
	void *arg)
{
	if (place != WAIT_BESIDE && wait_quick(p, cond, arg)) {
		if (place != WAIT_FARAWAY)
			wait_met(p);
		return true;
	}
	wait_begin(w, place, wait_clock() - (place == WAIT_BESIDE ? 0 : p->quick_time));
	for (bool done = false; !done;) {
		switch (wait_next(p, w)) {
		case WAIT_LOOK:
			done = wait_quick(p, cond, arg);
			wait_looked(w, wait_clock());
			break;
		case WAIT_YIELD:
			sched_yield();
			wait_yielded(p, w, wait_clock());
			done = cond(arg);
			break;
		case WAIT_SLEEP:
			return false;
		}
	}
	wait_done(p, w);
	return true;
}

bool wait_pause(struct wait_policy *p, struct wait *w, unsigned pauses)
{
	switch (wait_next(p, w)) {
	case WAIT_LOOK:
		for (unsigned i = 0; i < pauses; i++) cpu_relax();
		wait_looked(w, wait_clock());
		return true;
	case WAIT_YIELD:
		sched_yield();
		wait_yielded(p, w, wait_clock());
		return true;
	default:
		return false;
	}
}
