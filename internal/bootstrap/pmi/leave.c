// SPDX-License-Identifier: BSD-3-Clause
// How a process leaves the job of a launcher with PMI-1, at exit, when no Go runs any more.
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "pmi.h"

static struct {
	int fd, ms;
	pid_t owner; // not a process that it has forked
} leaving;

// finalize_ack reads what the launcher answers, up to the end of the line. A launcher that closes
// the socket has heard of it, too.
static void finalize_ack(void)
{
	struct pollfd answer = {.fd = leaving.fd, .events = POLLIN};
	char c = 0;
	while (c != '\n') {
		int n = poll(&answer, 1, leaving.ms);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || recv(leaving.fd, &c, 1, MSG_DONTWAIT) <= 0)
			return;
	}
}

static void leave(void)
{
	static const char bye[] = "cmd=finalize\n";
	if (leaving.owner != getpid())
		return;
	if (send(leaving.fd, bye, sizeof bye - 1, MSG_NOSIGNAL | MSG_DONTWAIT) ==
		(ssize_t)sizeof bye - 1)
		finalize_ack();
}

void pmi_1_leave_at_exit(int fd, int ms)
{
	leaving.fd = fd;
	leaving.ms = ms;
	leaving.owner = getpid();
	atexit(leave);
}
