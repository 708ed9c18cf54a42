// SPDX-License-Identifier: BSD-3-Clause
// Sleeping on a word of memory and waking its sleepers, by a futex that processes share; and
// sleeping until something happens in an epoll.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "wait.h"

enum { MILLISECOND = 1000000, SECOND = 1000 * MILLISECOND };
enum { SHORTEST_NAP = MILLISECOND, LONGEST_NAP = 256 * MILLISECOND, WORKED = 150000 };

_Thread_local void (*wait_idle)(void) __attribute__((tls_model("initial-exec")));

// What a thread sleeps on: a word, or an epoll.
struct sleep_place {
	_Atomic uint32_t *word;
	uint32_t seen;
	int epoll; // if word is NULL
};

static bool timed_out(const struct sleep_place *p, uint64_t nanos)
{
	struct timespec t = {.tv_sec = (time_t)(nanos / SECOND), .tv_nsec = (long)(nanos % SECOND)};
	struct epoll_event e;
	int millis = (int)((nanos + MILLISECOND - 1) / MILLISECOND);
	if (!p->word)
		return epoll_wait(p->epoll, &e, 1, millis) == 0;
	return syscall(SYS_futex, p->word, FUTEX_WAIT, p->seen, &t, NULL, 0) != 0 &&
		errno == ETIMEDOUT;
}

// Naps between two calls of wait_idle become longer until the thread is woken; after a call that
// took so long that it has done something they are shorter again. A call costs some 70 us, since
// everything is cold: four in a second are not noticed.
static void sleep_on(const struct sleep_place *p, unsigned millis)
{
	static _Thread_local uint64_t nap = SHORTEST_NAP;
	if (!wait_idle) {
		timed_out(p, (uint64_t)millis * MILLISECOND);
		return;
	}
	uint64_t now = wait_clock(), end = now + (uint64_t)millis * MILLISECOND;
	while (now < end) {
		if (!timed_out(p, nap < end - now ? nap : end - now)) {
			nap = SHORTEST_NAP;
			return;
		}
		uint64_t begin = wait_clock();
		wait_idle();
		now = wait_clock();
		if (now - begin > WORKED)
			nap = nap > 16 * SHORTEST_NAP ? nap / 16 : SHORTEST_NAP;
		else if (nap < LONGEST_NAP)
			nap *= 4;
	}
}

void wait_sleep(_Atomic uint32_t *word, uint32_t seen, unsigned millis)
{
	sleep_on(&(struct sleep_place){.word = word, .seen = seen}, millis);
}

void wait_sleep_in(int epoll, unsigned millis)
{
	sleep_on(&(struct sleep_place){.epoll = epoll}, millis);
}

void wait_wake(_Atomic uint32_t *word, int threads)
{
	syscall(SYS_futex, word, FUTEX_WAKE, threads, NULL, NULL, 0);
}
