// SPDX-License-Identifier: BSD-3-Clause
// The thread of an open device: its life is that of the segment, to others. It sleeps unless
// requests wait, completions are late, or a queue pair was marked as failed.
#define _GNU_SOURCE
#include "softverbs.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void thread_wake(struct context *c) { segment_ring(c->segment); }

// Flushes queue pairs that others have marked as failed, or all if the device has vanished.
static void flush_failed(struct context *c)
{
	bool all = c->segment->vanished;
	pthread_mutex_lock(&c->table);
	for (uint32_t i = 0; i < c->pairs; i++) {
		struct queue_pair *q = c->pair[i];
		if (!q || !(atomic_exchange(&q->shared->failed, false) || all))
			continue;
		pthread_mutex_lock(&q->lock);
		atomic_store(&q->shared->state, IBV_QPS_ERR);
		send_flush(c, q);
		receives_flush(c, q);
		pthread_mutex_unlock(&q->lock);
		if (!all)
			async_event(c,
				q->own ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_LAST_WQE_REACHED,
				&q->qp);
	}
	pthread_mutex_unlock(&c->table);
}

void device_fatal(struct context *c)
{
	if (atomic_exchange(&c->segment->vanished, true))
		return;
	async_event(c, IBV_EVENT_DEVICE_FATAL, NULL);
	atomic_store(&c->segment->failed, true);
	thread_wake(c);
}

void port_down(struct context *c)
{
	c->segment->down = true;
	async_event(c, IBV_EVENT_PORT_ERR, NULL);
	if (settings.down_ms) {
		atomic_store(&c->up_at, now_ns() + (uint64_t)settings.down_ms * 1000000u);
		thread_wake(c);
	}
}

// Brings the port back when it is time. The next requests are counted anew.
static void port_up(struct context *c, uint64_t *next)
{
	uint64_t at = atomic_load(&c->up_at);
	if (at == 0)
		return;
	if (now_ns() < at) {
		*next = at < *next ? at : *next;
		return;
	}
	atomic_store(&c->up_at, 0);
	atomic_store(&c->executed, 0);
	c->segment->down = false;
	async_event(c, IBV_EVENT_PORT_ACTIVE, NULL);
}

static void work(struct context *c, uint64_t *next)
{
	if (atomic_exchange(&c->segment->failed, false))
		flush_failed(c);
	port_up(c, next);
	if (atomic_load(&c->waiting) > 0)
		progress(c, true, next);
	if (settings.late)
		ring_late(c, now_ns(), next);
}

void *thread_main(void *context)
{
	struct context *c = context;
	struct segment *s = c->segment;
	shared_lock(&s->life);
	atomic_fetch_add(&s->bell, 1); // alive
	syscall(SYS_futex, &s->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	while (!atomic_load(&c->closing)) {
		uint32_t bell = atomic_load(&s->bell);
		uint64_t next = UINT64_MAX, now;
		work(c, &next);
		now = now_ns();
		if (next <= now)
			continue;
		struct timespec rest = {(time_t)((next - now) / 1000000000u),
			(long)((next - now) % 1000000000u)};
		syscall(SYS_futex, &s->bell, FUTEX_WAIT, bell, next == UINT64_MAX ? NULL : &rest,
			NULL, 0);
	}
	shared_unlock(&s->life);
	return NULL;
}
