// SPDX-License-Identifier: BSD-3-Clause
// Data and the word that it has arrived, there and back: a put and a notification, a put with a
// flag, and a notification alone. No data may come later than its word.
#include "perf.h"

#include <sched.h>

enum { MOST = 64 << 10, FLAG = MOST, LOOKS = 1000 }; // the flag lies behind the data

static long number;  // of half trips so far: what is stored
static double wrong; // half trips whose last word of data was not there

static long *last(struct perf_transfer *t, void *data)
{
	return (long *)(void *)((char *)data + t->count[0]) - 1;
}
static void set(struct perf_transfer *t) { *last(t, t->mine) = ++number; }

static void store(struct perf_transfer *t)
{
	set(t);
	ARMCI_Put(t->mine, t->theirs, t->count[0], perf_peer);
	armci_notify(perf_peer);
}

static void look(struct perf_transfer *t)
{
	wrong += *last(t, t->all[perf_me]) != number;
}

static void await(struct perf_transfer *t)
{
	int times;
	number++;
	armci_notify_wait(perf_peer, &times);
	look(t);
}

static void store_flag(struct perf_transfer *t)
{
	set(t);
	ARMCI_Put_flag(t->mine, t->theirs, t->count[0], (int *)(void *)(t->theirs + FLAG),
		(int)number, perf_peer);
}

static void await_flag(struct perf_transfer *t)
{
	_Atomic int *flag = (_Atomic int *)(void *)((char *)t->all[perf_me] + FLAG);
	number++;
	for (int i = 0; atomic_load_explicit(flag, memory_order_acquire) != (int)number; i++)
		if (i >= LOOKS)
			sched_yield();
	look(t);
}

static void notify(struct perf_transfer *t)
{
	(void)t;
	armci_notify(perf_peer);
}

static void await_notification(struct perf_transfer *t)
{
	(void)t;
	int times;
	armci_notify_wait(perf_peer, &times);
}

static void stored(void *arg, long n) { perf_half_trips(arg, n, store, await); }
static void flagged(void *arg, long n) { perf_half_trips(arg, n, store_flag, await_flag); }
static void notified(void *arg, long n) { perf_half_trips(arg, n, notify, await_notification); }

void perf_notify(void)
{
	struct perf_transfer t = perf_transfer(MOST + 64);
	struct perf_case c = {.op = "notify",
		.shape = "half-trip",
		.unit = TIMING_NS,
		.arg = &t,
		.ours = notified};
	if (perf_n > 1)
		perf_all(&c);
	for (int bytes = 8; perf_n > 1 && bytes <= MOST; bytes *= bytes == 8 ? 32 :
			perf_quick                                           ? 256 :
									       16) {
		t.count[0] = bytes;
		c.bytes = bytes;
		c.op = "put+notify", c.ours = stored;
		perf_all(&c);
		c.op = "put-flag", c.ours = flagged;
		perf_all(&c);
	}
	perf_check("notify", perf_total(wrong), 0);
	perf_transfer_end(&t);
}
