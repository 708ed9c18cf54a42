// SPDX-License-Identifier: BSD-3-Clause
// Both sides of the raw baseline between nodes. A request is a head (how many bytes follow, how many to answer, whether
// to spin from now on) and its bytes; the far side reads it whole, then answers.
#define _GNU_SOURCE
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "perf.h"

enum { TAG = 77, ADDRESSES = 16 };

struct head {
	uint64_t bytes, back, spin;
};
struct offer { // where the peer listens
	uint16_t port;
	uint16_t count;
	struct in_addr addr[ADDRESSES];
};

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "perf worker: raw socket: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void pump(int fd, char *p, size_t n, bool spin, bool out)
{
	while (n > 0) {
		ssize_t got = out ? send(fd, p, n, MSG_NOSIGNAL) : recv(fd, p, n, spin ? MSG_DONTWAIT : 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got == 0)
			pthread_exit(NULL); // rank 0 has closed its end
		need(got > 0, out ? "send" : "receive");
		p += got;
		n -= (size_t)got;
	}
}

// The head and the bytes leave in one call.
static void send_request(struct perf_wire *w, struct head *h, size_t n)
{
	struct iovec v[2] = {{h, sizeof *h}, {w->space, n}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	ssize_t got = sendmsg(w->fd, &m, MSG_NOSIGNAL);
	need(got >= (ssize_t)sizeof *h, "send");
	pump(w->fd, w->space + ((size_t)got - sizeof *h), n + sizeof *h - (size_t)got, false, true);
}

void perf_wire_ask(struct perf_wire *w, size_t out, size_t back)
{
	struct head h = {.bytes = out, .back = back, .spin = w->spin};
	send_request(w, &h, out);
	pump(w->fd, w->space, back, w->spin, false);
}

void perf_wire_style(struct perf_wire *w, bool spin)
{
	w->spin = spin;
	perf_wire_ask(w, 8, 8);
}

// The far side: a thread until rank 0 closes the connection.
static void *serve(void *arg)
{
	struct perf_wire *w = arg;
	struct head h = {0};
	for (;;) {
		pump(w->fd, (char *)&h, sizeof h, h.spin, false);
		pump(w->fd, w->space, h.bytes, h.spin, false);
		pump(w->fd, w->space, h.back, false, true);
	}
	return NULL;
}

static void list_addresses(struct offer *o)
{
	struct ifaddrs *all, *a;
	need(getifaddrs(&all) == 0, "list the interfaces");
	for (int loopback = 0; loopback < 2; loopback++)
		for (a = all; a && o->count < ADDRESSES; a = a->ifa_next)
			if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET && (a->ifa_flags & IFF_UP) &&
			    !(a->ifa_flags & IFF_LOOPBACK) == !loopback)
				o->addr[o->count++] = ((struct sockaddr_in *)a->ifa_addr)->sin_addr;
	freeifaddrs(all);
}

static int no_delay(int fd)
{
	int one = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

static int be_called(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof at;
	struct offer o = {0};
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	need(l >= 0 && bind(l, (struct sockaddr *)&at, sizeof at) == 0 && listen(l, 1) == 0, "listen");
	need(getsockname(l, (struct sockaddr *)&at, &size) == 0, "name of the socket");
	o.port = at.sin_port;
	list_addresses(&o);
	armci_msg_snd(TAG, &o, sizeof o, 0);
	int fd = accept(l, NULL, NULL);
	need(fd >= 0, "accept");
	close(l);
	return no_delay(fd);
}

// Tries the peer's addresses, half a second each.
static int call(void)
{
	struct offer o;
	int got;
	armci_msg_rcv(TAG, &o, sizeof o, &got, perf_peer);
	for (int i = 0; i < o.count; i++) {
		struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = o.port, .sin_addr = o.addr[i]};
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
		socklen_t size = sizeof error;
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		need(fd >= 0, "socket");
		if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)
			error = errno;
		if (!error && poll(&p, 1, 500) == 1 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error) {
			need(fcntl(fd, F_SETFL, 0) == 0, "make the socket wait");
			return no_delay(fd);
		}
		close(fd);
	}
	fprintf(stderr, "perf worker: rank %d cannot be reached by a raw socket\n", perf_peer);
	exit(1);
}

struct perf_wire perf_wire_open(size_t most)
{
	struct perf_wire w = {.fd = -1, .most = most};
	if (perf_me == 0) {
		w.space = perf_private(most);
		w.fd = call();
	} else if (perf_n > 1 && perf_me == 1) {
		static struct perf_wire far;
		pthread_t thread;
		far = (struct perf_wire){.fd = be_called(), .space = perf_private(most), .most = most};
		need(pthread_create(&thread, NULL, serve, &far) == 0, "thread");
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
