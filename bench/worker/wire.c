// SPDX-License-Identifier: BSD-3-Clause
// Both sides of the raw baseline between nodes. A request is a head (how many bytes follow, how
// many to answer, how to wait from now on, which place to use) and its bytes; the far side reads it
// whole, then answers. How to connect is in dial.c.
#define _GNU_SOURCE
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dial.h"
#include "perf.h"

struct head {
	uint64_t bytes, back;
	uint32_t style, at;
};

// Seconds that a side polls before it sleeps in mixed style: the asking and the answering side.
static const double asker = 100e-6, answerer = 20e-6;

// Passes the time until the socket may have something, or sleeps until it has.
static void await(int fd, enum perf_style style, double *until, double patience)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (style == PERF_SPINNING)
		return;
	double now = timing_now();
	if (*until == 0)
		*until = now + patience;
	if (now < *until)
		sched_yield();
	else
		poll(&p, 1, -1);
}

// Receives n bytes: false if the other side has closed.
static bool receive(int fd, void *to, size_t n, enum perf_style style, double patience)
{
	char *p = to;
	double until = 0;
	while (n > 0) {
		ssize_t got = recv(fd, p, n, style == PERF_ASLEEP ? 0 : MSG_DONTWAIT);
		if (got == 0)
			return false;
		if (got < 0 && errno == EAGAIN) {
			await(fd, style, &until, patience);
			continue;
		}
		perf_need(got > 0 || errno == EINTR, "receive");
		if (got > 0) {
			p += got;
			n -= (size_t)got;
		}
	}
	return true;
}

static void send_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t got = send(fd, p, n, MSG_NOSIGNAL);
		perf_need(got > 0 || errno == EINTR, "send");
		if (got > 0) {
			p += got;
			n -= (size_t)got;
		}
	}
}

// The place of a request whose larger part is so large.
static void move(struct perf_wire *w, size_t bytes)
{
	w->at += w->step;
	if (w->step == 0 || w->at + bytes > w->most)
		w->at = 0;
}

// The head and the bytes leave in one call.
void perf_wire_send(struct perf_wire *w, size_t out, size_t back)
{
	move(w, out > back ? out : back);
	struct head h = {.bytes = out, .back = back, .style = w->style, .at = (uint32_t)w->at};
	char *from = w->space + w->at;
	struct iovec v[2] = {{&h, sizeof h}, {from, out}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	ssize_t got = sendmsg(w->fd, &m, MSG_NOSIGNAL);
	perf_need(got >= (ssize_t)sizeof h, "send");
	size_t sent = (size_t)got - sizeof h;
	send_all(w->fd, from + sent, out - sent);
}

void perf_wire_take(struct perf_wire *w, size_t back)
{
	bool open = receive(w->fd, w->space + w->at, back, w->style, asker);
	perf_need(open, "the peer is gone");
}

void perf_wire_ask(struct perf_wire *w, size_t out, size_t back)
{
	perf_wire_send(w, out, back);
	perf_wire_take(w, back);
}

void perf_wire_style(struct perf_wire *w, enum perf_style style)
{
	w->style = style;
	perf_wire_ask(w, 8, 8);
}

// The far side: a thread until rank 0 closes the connection.
static void *serve(void *arg)
{
	struct perf_wire *w = arg;
	struct head h = {0};
	while (receive(w->fd, &h, sizeof h, (enum perf_style)h.style, answerer) &&
		receive(w->fd, w->space + h.at, h.bytes, (enum perf_style)h.style, answerer))
		send_all(w->fd, w->space + h.at, h.back);
	perf_wire_close(w);
	free(w);
	return NULL;
}

struct perf_wire perf_wire_open(size_t most, int rank)
{
	struct perf_wire w = {.fd = -1, .most = most};
	if (perf_n > 1 && perf_me == 0) {
		w.space = perf_private(most);
		w.fd = perf_dial(rank);
	} else if (perf_n > 1 && perf_me == rank) {
		struct perf_wire *far = malloc(sizeof *far);
		pthread_t thread;
		*far = (struct perf_wire){.fd = perf_answer(0),
			.space = perf_private(most),
			.most = most};
		perf_need(pthread_create(&thread, NULL, serve, far) == 0, "thread");
		pthread_detach(thread);
	}
	return w;
}

void perf_wire_close(struct perf_wire *w)
{
	if (w->fd < 0)
		return;
	close(w->fd);
	free(w->space);
	w->fd = -1;
}
