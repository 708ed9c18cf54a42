// SPDX-License-Identifier: BSD-3-Clause
// How a rank waits for an event, a counter that ranks of any node raise: it polls briefly, then sleeps on the counter itself.
// Nothing here knows what is counted.
#include <limits.h>

#include "shm.h"

struct awaited {
	struct shm_event *e;
	uint32_t seen;
};

static bool raised(void *arg)
{
	struct awaited *a = arg;
	return atomic_load(&a->e->count) != a->seen;
}

void shm_event_wait(struct shm_event *e, uint32_t seen, const char *what)
{
	struct awaited a = {e, seen};
	if (raised(&a) || shm_look(raised, &a, -1))
		return;
	atomic_fetch_add(&e->sleepers, 1); // and then looks; who raises the counter then looks for sleepers
	for (int because = -1; !raised(&a); because = shm_in_vain(-1)) {
		if (because >= 0)
			shm.stuck(what, because);
		shm_futex_wait(&e->count, seen, 1000);
	}
	atomic_fetch_sub(&e->sleepers, 1);
}

void shm_event_wake(struct shm_event *e) { shm_futex_wake(&e->count, INT_MAX); }
