// SPDX-License-Identifier: BSD-3-Clause
// How a process leaves the job of its launcher: at exit, when no Go may run any more, or before.
#define _GNU_SOURCE // on_exit
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "pmi.h"

enum { MAX_INTERFACES = 3 }; // PMI-1, PMI-2, PMIx

// leaving is what this process has joined, and has not left.
static struct {
	void (*close[MAX_INTERFACES])(void);
	int count;
	pid_t owner; // 0: none; not a process that it has forked
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
	if (leaving.owner != getpid())
		leaving.count = 0; // those of the process that has forked this one
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
	while (leaving.count > 0)
		leaving.close[--leaving.count]();
}

int pmi_in_job(void) { return leaving.owner == getpid(); }

// pmi1_socket is the launcher's socket, and the most milliseconds to wait for its last answer.
static struct {
	int fd, ms;
} pmi1_socket;

// now_ms is the time of a clock that is never set, in milliseconds.
static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// finalize_ack reads what the launcher answers, up to the end of the line or of the time for all of
// it. A launcher that closes the socket has heard of it, too.
static void finalize_ack(void)
{
	struct pollfd answer = {.fd = pmi1_socket.fd, .events = POLLIN};
	int64_t end = now_ms() + pmi1_socket.ms, left;
	char c = 0;
	while (c != '\n' && (left = end - now_ms()) >= 0) {
		int n = poll(&answer, 1, (int)left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || recv(pmi1_socket.fd, &c, 1, MSG_DONTWAIT) <= 0)
			return;
	}
}

// A process that fails does not say it: a launcher that has heard it does not end the others.
static void finalize_1(void)
{
	static const char finalize_line[] = "cmd=finalize\n";
	const ssize_t bytes = sizeof finalize_line - 1;
	if (leaving.failed)
		return;
	if (send(pmi1_socket.fd, finalize_line, (size_t)bytes, MSG_NOSIGNAL | MSG_DONTWAIT) ==
		bytes)
		finalize_ack();
}

void pmi_1_at_exit(int fd, int ms)
{
	pmi1_socket.fd = fd;
	pmi1_socket.ms = ms;
	pmi_at_exit(finalize_1);
}
