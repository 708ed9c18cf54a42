// SPDX-License-Identifier: BSD-3-Clause
// Records calls: counts them by operation, size and node, and hands them to the trace. What each
// public function is counted as is said by its library (capi/profile_calls.h, mpirma/record.c).
#define _GNU_SOURCE
#include "profile.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

struct profile profile;
_Thread_local bool profile_entered_go __attribute__((tls_model("initial-exec")));

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct profile_span profile_begin(const char *name, int proc, uint64_t bytes)
{
	struct profile_span s = {.outer_go = profile_entered_go};
	profile_entered_go = false;
	s.start = now();
	if (profile.traced && trace_event('B', name, s.start, proc, bytes))
		s.traced = name;
	return s;
}

static int class_of(uint64_t bytes)
{
	static const uint64_t most[PROFILE_CLASSES - 1] = {0, 64, 256, 4 << 10, 64 << 10, 1 << 20,
		16 << 20};
	int i = 0;
	while (i < PROFILE_CLASSES - 1 && bytes > most[i]) i++;
	return i;
}

static void count(struct profile_cell *c, uint64_t bytes, uint64_t ns, bool in_c)
{
	atomic_fetch_add_explicit(&c->calls, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->bytes, bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->ns, ns, memory_order_relaxed);
	if (in_c)
		atomic_fetch_add_explicit(&c->in_c, 1, memory_order_relaxed);
}

void profile_end(const struct profile_span *s, enum profile_op op, int proc, uint64_t bytes)
{
	uint64_t end = now();
	bool in_c = !profile_entered_go;
	struct profile_counters *c = profile.counters;
	if (s->traced)
		trace_event('E', s->traced, end, proc, bytes);
	if (c) {
		count(&c->table[op][class_of(bytes)], bytes, end - s->start, in_c);
		if (proc >= 0 && proc < profile.ranks)
			count(&c->by_node[profile.node_of[proc]], bytes, end - s->start, in_c);
	}
	profile_entered_go = s->outer_go;
}

// Called by Go. node_of is malloc'ed and owned by C from now on.
void profile_start(struct profile_counters *counters, int *node_of, int me, int ranks, bool traced)
{
	free(profile.node_of);
	profile = (struct profile){.counters = counters,
		.node_of = node_of,
		.me = me,
		.ranks = ranks,
		.traced = traced};
}

// Called by Go when nothing is to be recorded any more.
void profile_stop(void)
{
	profile.counters = NULL;
	profile.traced = false;
}
