// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE // on_exit
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "at_exit.h"

static struct {
	int fd, wait, bytes;
	char bye[64];
	pid_t owner; // not a process that it has forked; 0: nothing is to be done
} leaving;

// A process that ends with another status than 0 has failed, and the job with it: its connection
// ends without a bye.
static void leave(int status, void *unused)
{
	(void)unused;
	if (leaving.owner != getpid() || status)
		return;
	char b;
	if (send(leaving.fd, leaving.bye, (size_t)leaving.bytes, MSG_NOSIGNAL) == leaving.bytes &&
		leaving.wait >= 0)
		while (read(leaving.wait, &b, 1) < 0 && errno == EINTR)
			;
}

void boot_leave_at_exit(int fd, const void *bye, int bytes, int wait)
{
	static int registered;
	if (fd < 0 || bytes > (int)sizeof leaving.bye)
		return;
	leaving.fd = fd;
	leaving.wait = wait;
	leaving.bytes = bytes;
	memcpy(leaving.bye, bye, (size_t)bytes);
	leaving.owner = getpid();
	if (!registered++)
		on_exit(leave, NULL);
}

void boot_has_left(void)
{
	if (!leaving.owner)
		return;
	leaving.owner = 0;
	if (leaving.wait >= 0)
		close(leaving.wait);
}
