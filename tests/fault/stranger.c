// SPDX-License-Identifier: BSD-3-Clause
// stranger.c - a process that does not belong to a job and connects to every socket that listens:
// abstract unix sockets named armci-..., TCP ports on loopback, UDP ports. It must run in a network
// namespace of its own (strangers.sh), since it spares nothing. It ends when its standard input
// does, and prints how often it has connected to what.
//
//   stranger UID PAUSE BYTES ADDRESSES HOLD [LOW HIGH]
//     UID        user and group to become
//     PAUSE      microseconds between connections to the same socket; 0: none
//     BYTES      that are said on each connection at once; 72 are a whole hello
//     ADDRESSES  so many of 127.0.0.1, 127.0.0.2, ... are used in turn
//     HOLD       so many connections are kept open; then the oldest is closed
//     LOW HIGH   only ports from LOW to HIGH: others may be those of a launcher that strangers harm
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TARGETS = 256, MOST_HELD = 4096, SAID = 512, LOOK_EVERY = 2000000 /* ns */ };

struct target {
	int type; // SOCK_STREAM or SOCK_DGRAM
	socklen_t length;
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_un un;
	} at;
};

static struct target target[MOST_TARGETS];
static int targets, held[MOST_HELD], hold, addresses;
static unsigned low_port = 0, high_port = 65535;
static size_t bytes;
static unsigned long connected[3]; // unix, TCP, datagrams
static char said[SAID] = "ARMCInet\6\0\0\0\2\0\0\0\0\0\0\0";

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// A line of /proc/net/unix: "Num: RefCount Protocol Flags Type St Inode Path". A listener has the
// flag 0x10000.
static void look_at_unix(const char *line)
{
	unsigned flags, type;
	int at = 0;
	if (sscanf(line, "%*s %*s %*s %x %x %*s %*s %n", &flags, &type, &at) < 2 || !at ||
		!(flags & 0x10000) || strncmp(line + at, "@armci-", 7) != 0 ||
		targets == MOST_TARGETS)
		return;
	struct target *t = &target[targets++];
	size_t n = strcspn(line + at, "\n");
	memset(t, 0, sizeof *t);
	t->type = SOCK_STREAM;
	t->at.un.sun_family = AF_UNIX;
	if (n > sizeof t->at.un.sun_path)
		n = sizeof t->at.un.sun_path;
	memcpy(t->at.un.sun_path, line + at, n);
	t->at.un.sun_path[0] = 0;
	t->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
}

// A line of /proc/net/tcp or udp: "sl local_address rem_address st". The state of a listener is 0A,
// of a UDP port 07.
static void look_at_ip(const char *line, int type)
{
	unsigned address, port, state;
	unsigned listens = type == SOCK_STREAM ? 0x0a : 7;
	if (sscanf(line, "%*s %x:%x %*s %x", &address, &port, &state) != 3 || state != listens ||
		port < low_port || port > high_port || targets == MOST_TARGETS)
		return;
	struct target *t = &target[targets++];
	memset(t, 0, sizeof *t);
	t->type = type;
	t->at.in.sin_family = AF_INET;
	t->at.in.sin_addr.s_addr = address ? address : htonl(INADDR_LOOPBACK);
	t->at.in.sin_port = htons((unsigned short)port);
	t->length = sizeof t->at.in;
}

// Reads a table of sockets, of abstract names if type is 0. Listeners come first in that of TCP:
// its first
// 4 KiB are enough.
static void look_into(const char *file, int type)
{
	static char text[1 << 16];
	int fd = open(file, O_RDONLY);
	ssize_t all = 0, n;
	while (fd >= 0 && (n = read(fd, text + all, sizeof text - 1 - (size_t)all)) > 0) {
		all += n;
		if (type == SOCK_STREAM && all > 4096)
			break;
	}
	close(fd);
	text[all] = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (type == 0)
			look_at_unix(line);
		else
			look_at_ip(line, type);
}

static void look(void)
{
	targets = 0;
	look_into("/proc/net/unix", 0);
	look_into("/proc/net/tcp", SOCK_STREAM);
	look_into("/proc/net/udp", SOCK_DGRAM);
}

// Closed by a reset, so that no port stays in use.
static void hang_up(int fd)
{
	struct linger none = {1, 0};
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
	close(fd);
}

static int visit(struct target *t, unsigned turn)
{
	int fd = socket(t->at.any.sa_family, t->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (t->at.any.sa_family == AF_INET) {
		struct sockaddr_in from = {.sin_family = AF_INET};
		int late = 1;
		from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + turn % (unsigned)addresses);
		setsockopt(fd, IPPROTO_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, &late, sizeof late);
		if (bind(fd, (struct sockaddr *)&from, sizeof from))
			perror("stranger: bind");
	}
	if (connect(fd, &t->at.any, t->length) && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	if (bytes && send(fd, said, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EPIPE) {
		hang_up(fd);
		return -1;
	}
	connected[t->type == SOCK_DGRAM ? 2 : t->at.any.sa_family == AF_INET]++;
	return fd;
}

static int told_to_end(void)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};
	return poll(&in, 1, 0) > 0;
}

int main(int argc, char **argv)
{
	if (argc != 6 && argc != 8) {
		fprintf(stderr, "usage: stranger UID PAUSE BYTES ADDRESSES HOLD [LOW HIGH]\n");
		return 2;
	}
	if (argc == 8) {
		low_port = (unsigned)atoi(argv[6]);
		high_port = (unsigned)atoi(argv[7]);
	}
	uid_t user = (uid_t)atoi(argv[1]);
	long pause_us = atol(argv[2]);
	bytes = (size_t)atol(argv[3]);
	addresses = atoi(argv[4]);
	hold = atoi(argv[5]);
	struct rlimit files = {MOST_HELD + 64, MOST_HELD + 64};
	if (bytes > SAID || addresses < 1 || hold < 1 || hold > MOST_HELD)
		return 2;
	setrlimit(RLIMIT_NOFILE, &files);
	if (user != getuid() && (setgroups(0, NULL) || setgid(user) || setuid(user))) {
		perror("stranger: another user");
		return 1;
	}
	memset(held, -1, sizeof held);
	memset(said + 24, 'x', sizeof said - 24);
	long long looked = 0;
	unsigned visits = 0;
	for (unsigned turn = 0; turn % 64 || !told_to_end(); turn++) {
		if (now() - looked > LOOK_EVERY) {
			look();
			looked = now();
		}
		for (int i = 0; i < targets; i++) {
			int *slot = &held[visits++ % (unsigned)hold];
			if (*slot >= 0)
				hang_up(*slot);
			*slot = visit(&target[i], turn);
		}
		if (pause_us || !targets)
			usleep((unsigned)(pause_us ? pause_us : 200));
	}
	printf("%lu connections to unix sockets, %lu over TCP, %lu datagrams\n", connected[0],
		connected[1], connected[2]);
	return 0;
}
