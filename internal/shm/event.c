// SPDX-License-Identifier: BSD-3-Clause
// Waits for an event, a counter that ranks of any node raise: the waiter polls briefly, then sleeps
// on the counter itself, with or without a limit of time.
#include <limits.h>

#include "shm.h"

// A wait until the count of an event is no longer `seen`.
struct count_wait {
	struct shm_event *e;
	uint32_t seen;
};

static bool count_changed(void *arg)
{
	struct count_wait *a = arg;
	return atomic_load(&a->e->count) != a->seen;
}

enum { LONGEST_SLEEP = 1000, MILLISECOND = 1000000 };

// sleep_millis returns the length of the next sleep; 0: the time is over. end: ns, 0 for no limit.
static unsigned sleep_millis(uint64_t end)
{
	uint64_t now = end ? wait_clock() : 0;
	if (end && now >= end)
		return 0;
	uint64_t left = end ? (end - now + MILLISECOND - 1) / MILLISECOND : LONGEST_SLEEP;
	return left < LONGEST_SLEEP ? (unsigned)left : LONGEST_SLEEP;
}

// sleep_for_event sleeps until the event is raised, or the time `end` (ns; 0: no limit) is over. A
// wait without limit ends the job if no rank is left to raise the event; one with a limit ends by
// itself.
static bool sleep_for_event(struct shm_visit *v, struct count_wait *a, uint64_t end,
	const char *what)
{
	bool met;
	unsigned millis = LONGEST_SLEEP;
	// Before reading the count: a raiser changes the count, then reads sleepers.
	atomic_fetch_add(&a->e->sleepers, 1);
	for (int because = -1; !(met = count_changed(a)) && (millis = sleep_millis(end)) > 0;
		because = end ? -1 : shm_departed_peer(-1)) {
		if (because >= 0)
			shm.stuck(what, because);
		shm_sleep_on(v, SHM_ANY, &a->e->count, a->seen, millis);
	}
	atomic_fetch_sub(&a->e->sleepers, 1);
	shm_end_visit(v, met);
	return met;
}

bool shm_event_wait(struct shm_event *e, uint32_t seen, int millis, const char *what)
{
	struct count_wait a = {e, seen};
	if (count_changed(&a))
		return true;
	if (millis == 0)
		return false;
	uint64_t end = millis < 0 ? 0 : wait_clock() + (uint64_t)millis * MILLISECOND;
	struct wait w;
	struct shm_visit visit;
	bool met = shm_poll_receiving(&w, &visit, count_changed, &a, SHM_ANY);
	if (met) {
		shm_end_visit(&visit, true);
		return true;
	}
	met = sleep_for_event(&visit, &a, end, what);
	shm_wait_woken(&w, 0);
	return met;
}

bool shm_event_soon(struct shm_event *e, uint32_t seen)
{
	struct count_wait a = {e, seen};
	struct wait w;
	return count_changed(&a) || shm_poll(&w, count_changed, &a, -1);
}

static bool count_reached(struct shm_event *e, uint32_t want)
{
	return (int32_t)(atomic_load(&e->count) - want) >= 0;
}

bool shm_event_sent(struct shm_event *record, uint32_t count)
{
	return record_sent(&record->count, &record->sleepers, count);
}

bool shm_event_ask(struct shm_event *record, uint32_t want)
{
	return record_ask(&record->count, &record->sleepers, want);
}

bool shm_event_told(struct shm_event *e, uint32_t count)
{
	if (!count_reached(e, count))
		return false;
	if (atomic_load(&e->sleepers))
		shm_event_wake(e);
	return true;
}

void shm_event_wake(struct shm_event *e)
{
	wait_wake(&e->count, INT_MAX);
	shm_wake_receiver();
}
