// SPDX-License-Identifier: BSD-3-Clause
// How the two ends of the raw program meet: a TCP connection, which then stays open to show that
// the other end lives.
#include "raw.h"

#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT "18515"

static void need(bool ok, const char *what)
{
	if (!ok)
		link_fail(what);
}

int raw_dial(const char *host)
{
	struct addrinfo want = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *at = NULL;
	struct timespec pause = {.tv_nsec = 50000000};
	need(getaddrinfo(host, PORT, &want, &at) == 0, host);
	for (int tries = 0; tries < 600; tries++) { // the other end may not be there yet
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, at->ai_addr, at->ai_addrlen) == 0) {
			freeaddrinfo(at);
			return fd;
		}
		close(fd);
		nanosleep(&pause, NULL);
	}
	link_fail(host);
}

int raw_answer(void)
{
	struct addrinfo want = {.ai_family = AF_INET,
				.ai_socktype = SOCK_STREAM,
				.ai_flags = AI_PASSIVE},
			*at = NULL;
	int on = 1;
	need(getaddrinfo(NULL, PORT, &want, &at) == 0, "own address");
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	need(bind(listener, at->ai_addr, at->ai_addrlen) == 0 && listen(listener, 1) == 0,
		"listen");
	int fd = accept(listener, NULL, NULL);
	need(fd >= 0, "accept");
	close(listener);
	freeaddrinfo(at);
	return fd;
}

void raw_wait(int socket)
{
	char end;
	need(recv(socket, &end, 1, 0) == 0, "the other end");
}
