// SPDX-License-Identifier: BSD-3-Clause
// How a process leaves the job of its launcher: at exit, when no Go may run any more, or before.
#define _GNU_SOURCE // on_exit
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "pmi.h"

enum { MOST = 3 }; // interfaces

static struct {
	void (*close[MOST])(void);
	int count;
	pid_t owner; // not a process that it has forked
	int failed;  // the process exits with another status than 0
} leaving;

static void at_exit(int status, void *unused)
{
	(void)unused;
	leaving.failed = status != 0;
	pmi_leave();
}

void pmi_at_exit(void (*close)(void))
{
	static int registered;
	leaving.close[leaving.count++] = close;
	leaving.owner = getpid();
	if (!registered++)
		on_exit(at_exit, NULL);
}

void pmi_leave(void)
{
	if (leaving.owner != getpid())
		return;
	leaving.owner = 0;
	for (int i = 0; i < leaving.count; i++)
		leaving.close[i]();
}

int pmi_in_job(void) { return leaving.owner != 0; }

static struct {
	int fd, ms;
} one;

// finalize_ack reads what the launcher answers, up to the end of the line. A launcher that closes
// the socket has heard of it, too.
static void finalize_ack(void)
{
	struct pollfd answer = {.fd = one.fd, .events = POLLIN};
	char c = 0;
	while (c != '\n') {
		int n = poll(&answer, 1, one.ms);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || recv(one.fd, &c, 1, MSG_DONTWAIT) <= 0)
			return;
	}
}

// A process that fails does not say it: a launcher that has heard it does not end the others.
static void finalize_1(void)
{
	static const char bye[] = "cmd=finalize\n";
	if (leaving.failed)
		return;
	if (send(one.fd, bye, sizeof bye - 1, MSG_NOSIGNAL | MSG_DONTWAIT) ==
		(ssize_t)sizeof bye - 1)
		finalize_ack();
}

void pmi_1_at_exit(int fd, int ms)
{
	one.fd = fd;
	one.ms = ms;
	pmi_at_exit(finalize_1);
}
