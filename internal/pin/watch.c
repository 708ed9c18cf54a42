// SPDX-License-Identifier: BSD-3-Clause
// The thread that reads events. It must not wait for Go, or for a thread that may be waiting for an
// event to be read: no locks, no malloc.
#define _GNU_SOURCE
#include "watch.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

// Adds an event to the queue, or sets lost if it is full.
static void queue_event(struct pin_watch *w, uint64_t lo, uint64_t hi, uint64_t moved,
	uint64_t kept)
{
	uint64_t written = atomic_load_explicit(&w->written, memory_order_relaxed);
	if (written - atomic_load_explicit(&w->taken, memory_order_acquire) == PIN_EVENTS) {
		atomic_store_explicit(&w->lost, 1, memory_order_release);
		return;
	}
	w->events[written % PIN_EVENTS] = (struct pin_event){lo, hi, moved, kept};
	atomic_store_explicit(&w->written, written + 1, memory_order_release);
}

// Translates a message of the kernel.
static void handle_message(struct pin_watch *w, const struct uffd_msg *m)
{
	if (m->event == UFFD_EVENT_REMAP)
		queue_event(w, m->arg.remap.from, m->arg.remap.from + m->arg.remap.len,
			m->arg.remap.to, 0);
	else if (m->event == UFFD_EVENT_UNMAP || m->event == UFFD_EVENT_REMOVE)
		queue_event(w, m->arg.remove.start, m->arg.remove.end, 0,
			m->event == UFFD_EVENT_REMOVE);
}

// The read itself unblocks the threads that raised the events. So `reading` is odd from before it
// until all events are queued.
static void *read_events(void *arg)
{
	struct pin_watch *w = arg;
	struct pollfd fds[] = {{.fd = w->fd, .events = POLLIN}, {.fd = w->stop, .events = POLLIN}};
	struct uffd_msg m[16];
	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			return NULL;
		atomic_fetch_add(&w->reading, 1);
		ssize_t n = read(w->fd, m, sizeof m);
		for (ssize_t i = 0; i < n / (ssize_t)sizeof *m; i++)
			handle_message(w, &m[i]);
		atomic_fetch_add(&w->reading, 1);
		n = write(w->bell, &(uint64_t){1}, sizeof(uint64_t));
		(void)n; // it fails if the counter is full: then the eventfd is readable already
	}
}

int pin_watch_start(struct pin_watch *w)
{
	sigset_t all, was;
	pthread_t thread;
	sigfillset(&all);
	// the application's signals are not for this thread
	pthread_sigmask(SIG_SETMASK, &all, &was);
	int err = pthread_create(&thread, NULL, read_events, w);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (err)
		return err;
	pthread_setname_np(thread, "armci-watch");
	w->thread = thread;
	return 0;
}

void pin_watch_join(struct pin_watch *w) { pthread_join(w->thread, NULL); }
