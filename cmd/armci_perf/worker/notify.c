// SPDX-License-Identifier: BSD-3-Clause
// Data and the word that it has arrived, there and back: a put and a notification, a put with a flag, and a notification
// alone. No data may come later than its word.
#include "perf.h"

#include <sched.h>

enum { BYTES = 8, FLAG = 64, LOOKS = 1000 };

static long number;  // of half trips so far: what is stored
static double wrong; // half trips whose data was not there

static void store(struct perf_transfer *t)
{
	*(long *)(void *)t->mine = ++number;
	ARMCI_Put(t->mine, t->theirs, BYTES, perf_peer);
	armci_notify(perf_peer);
}

static void look(struct perf_transfer *t) { wrong += *(volatile long *)t->all[perf_me] != number; }

static void await(struct perf_transfer *t)
{
	int times;
	number++;
	armci_notify_wait(perf_peer, &times);
	look(t);
}

static void store_flag(struct perf_transfer *t)
{
	*(long *)(void *)t->mine = ++number;
	ARMCI_Put_flag(t->mine, t->theirs, BYTES, (int *)(void *)(t->theirs + FLAG), (int)number, perf_peer);
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
	struct perf_transfer t = perf_transfer(4096);
	struct perf_case c = {.shape = "half-trip", .unit = PERF_NS, .arg = &t};
	t.count[0] = BYTES;
	for (int k = 0; perf_n > 1 && k < 3; k++) {
		static const char *const ops[] = {"put+notify", "put-flag", "notify"};
		static const perf_body bodies[] = {stored, flagged, notified};
		c.op = ops[k], c.ours = bodies[k], c.bytes = k < 2 ? BYTES : 0;
		perf_all(&c);
	}
	perf_check("notify", perf_total(wrong), 0);
	perf_transfer_end(&t);
}
