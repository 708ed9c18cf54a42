// SPDX-License-Identifier: BSD-3-Clause
// How a rank finds the socket of another: that one listens and says at which addresses, the first
// tries them. Its program carries that message: the worker by the library, bench/windows by MPI.
#define _GNU_SOURCE
#include "dial.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perf.h"

enum { ADDRESSES = 16 };

struct offer { // where the other rank listens
	uint16_t port;
	uint16_t count;
	struct in_addr addr[ADDRESSES];
};

// Loopback comes last: it leads to the other rank only if that is on this host.
static void list_addresses(struct offer *o)
{
	struct ifaddrs *all, *a;
	perf_need(getifaddrs(&all) == 0, "list the interfaces");
	for (int loopback = 0; loopback < 2; loopback++)
		for (a = all; a && o->count < ADDRESSES; a = a->ifa_next)
			if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET &&
				(a->ifa_flags & IFF_UP) &&
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

// What the library does as well, so that figures compare what it costs and not congestion controls:
// no pacing (BBR).
static int no_pacing(int fd)
{
	char name[16] = "";
	socklen_t size = sizeof name - 1;
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0 &&
		strncmp(name, "bbr", 3) == 0 &&
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) != 0)
		setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
	return fd;
}

int perf_answer(int rank)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof at;
	struct offer o = {0};
	// accepted sockets inherit it
	int l = no_pacing(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	perf_need(l >= 0 && bind(l, (struct sockaddr *)&at, sizeof at) == 0 && listen(l, 1) == 0,
		"listen");
	perf_need(getsockname(l, (struct sockaddr *)&at, &size) == 0, "name of the socket");
	o.port = at.sin_port;
	list_addresses(&o);
	perf_tell(rank, &o, sizeof o);
	int fd = accept(l, NULL, NULL);
	perf_need(fd >= 0, "accept");
	close(l);
	return no_delay(fd);
}

// Tries the peer's addresses, half a second each.
int perf_dial(int rank)
{
	struct offer o;
	perf_hear(rank, &o, sizeof o);
	for (int i = 0; i < o.count; i++) {
		struct sockaddr_in to = {.sin_family = AF_INET,
			.sin_port = o.port,
			.sin_addr = o.addr[i]};
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
		socklen_t size = sizeof error;
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		perf_need(no_pacing(fd) >= 0, "socket");
		if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)
			error = errno;
		if (!error && poll(&p, 1, 500) == 1 &&
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error) {
			perf_need(fcntl(fd, F_SETFL, 0) == 0, "make the socket wait");
			return no_delay(fd);
		}
		close(fd);
	}
	fprintf(stderr, "perf worker: rank %d cannot be reached by a raw socket\n", rank);
	exit(1);
}
