// SPDX-License-Identifier: BSD-3-Clause
// Estimates of whether data servers are awake (server.h). Threads that update a record at the same
// time may lose an update: the server is then woken a little later.
#include "server.h"

#include <time.h>

static struct fast_server servers[FAST_SERVERS];

struct fast_server *fast_server(unsigned number) { return &servers[number % FAST_SERVERS]; }

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}
static void set(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

void fast_heard_at(struct fast_server *s, uint64_t now) { set(&s->awake, now + FAST_AWAKE); }
void fast_heard(struct fast_server *s) { fast_heard_at(s, now_ns()); }

bool fast_asks_at(struct fast_server *s, uint64_t now, uint64_t device, uint64_t message,
	uint64_t wake)
{
	if (device <= message)
		return false;
	if (now < get(&s->awake) || device >= message + wake)
		return true;
	uint64_t lost = now < get(&s->end) + FAST_AWAKE ? get(&s->lost) : 0;
	lost += device - message;
	bool pays = lost >= wake;
	if (pays)
		set(&s->awake, now + FAST_AWAKE);
	set(&s->lost, pays ? 0 : lost);
	set(&s->end, now + device);
	return pays;
}

bool fast_asks(struct fast_server *s, uint64_t device, uint64_t message, uint64_t wake)
{
	return device > message && fast_asks_at(s, now_ns(), device, message, wake);
}
