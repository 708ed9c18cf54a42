// SPDX-License-Identifier: BSD-3-Clause
// The reporter: a program of a few hundred bytes that prints which rank of the node has died, for launchers that kill all
// others before one of them can print it. reporter_start.c copies this section of the library into a file and executes
// that. So nothing here may refer to anything outside the section: no library function, no data, no string.
//
//   argument i + 1      line to print when rank i ends without a word (reporter.h)
//   descriptor 3 + i    a connection to rank i
//   environment         the name of the job's claim; other users cannot read it there
#include <errno.h>
#include <linux/prctl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#include "reporter.h"

#if defined(__x86_64__)

#define APART  __attribute__((no_stack_protector, no_sanitize("address", "undefined", "thread")))
#define SECTION __attribute__((section("armci_reporter"), used)) APART

static inline __attribute__((always_inline)) APART long sys(long number, long a, const void *b, long c, const void *d)
{
	long result;
	register const void *fourth __asm__("r10") = d;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
	                 : "rcx", "r11", "memory");
	return result;
}

SECTION static void say(const char *line)
{
	size_t n = 0;
	for (const volatile char *end = line; *end; end++) n++; // volatile: else the compiler calls strlen
	sys(SYS_write, 2, line, (long)n, NULL);
}

// A rank that has found out why the job ends may print it, too. The first of it and the reporter to
// bind the abstract socket with the name of the claim, which only one can, prints.
SECTION static int claim(const char *name)
{
	struct sockaddr_un at;
	size_t n = 0, head = offsetof(struct sockaddr_un, sun_path) + 1;
	for (; n + 1 < sizeof at.sun_path && name[n]; n++) ((volatile char *)at.sun_path)[n + 1] = name[n];
	at.sun_family = AF_UNIX;
	at.sun_path[0] = 0;
	long fd = sys(SYS_socket, AF_UNIX, (void *)(SOCK_DGRAM | SOCK_CLOEXEC), 0, NULL);
	return fd < 0 || n == 0 || sys(SYS_bind, fd, &at, (long)(head + n), NULL) != -EADDRINUSE;
}

// Prints the lines of the ranks that are to blame, unless a rank has. It keeps the claim until the
// launcher has ended the other ranks. Standard error is closed before, since a launcher may wait
// for that.
SECTION static void report(const char *name, const char *leaver, const char *dead)
{
	struct timespec kept = {.tv_sec = 1};
	if (!claim(name))
		return;
	if (leaver)
		say(leaver);
	say(dead);
	sys(SYS_close, 2, NULL, 0, NULL);
	sys(SYS_nanosleep, (long)&kept, NULL, 0, NULL);
}

// The first connection that ends without a word is the death: events are listed in the order in which they happened, and
// the launcher kills afterwards (dupHigh in reporter.go). A rank that has exited without finalising is named, too: it may be
// the reason why others end.
SECTION static void watch(char **line, long n, const char *name)
{
	long poll = sys(SYS_epoll_create1, 0, NULL, 0, NULL), left = n, leaver = -1, got;
	struct epoll_event e;
	char status = REPORTER_READY;
	for (e.data.u64 = 0; e.data.u64 < (uint64_t)n; e.data.u64++) {
		e.events = EPOLLIN;
		sys(SYS_epoll_ctl, poll, (void *)EPOLL_CTL_ADD, (long)e.data.u64 + 3, &e);
	}
	sys(SYS_write, 3, &status, 1, NULL);
	while (left > 0) {
		if (sys(SYS_epoll_wait, poll, &e, 1, (void *)-1) != 1)
			continue;
		long who = (long)e.data.u64;
		got = sys(SYS_read, who + 3, &status, 1, NULL);
		if (got == 1 && status == REPORTER_REPORTED)
			return;
		if (got != 1) {
			report(name, leaver >= 0 ? line[leaver] : NULL, line[who]);
			return;
		}
		if (status == REPORTER_LEFT && leaver < 0)
			leaver = who;
		sys(SYS_epoll_ctl, poll, (void *)EPOLL_CTL_DEL, who + 3, &e);
		left--;
	}
}

// stack: the number of arguments, the arguments, NULL, the environment, as at the start of every
// program.
SECTION static void start(long *stack)
{
	char **argument = (char **)(stack + 1);
	sys(SYS_prctl, PR_SET_NAME, argument[0], 0, NULL);
	watch(argument + 1, stack[0] - 1, argument[stack[0] + 1]);
	for (;;) sys(SYS_exit_group, 0, NULL, 0, NULL);
}

SECTION __attribute__((naked)) void shm_reporter_entry(void)
{
	__asm__("mov %%rsp, %%rdi\n\tand $-16, %%rsp\n\tcall %P0" : : "i"(start));
}

#else
void shm_reporter_entry(void) {}
#endif
