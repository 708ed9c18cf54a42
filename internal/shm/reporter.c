// SPDX-License-Identifier: BSD-3-Clause
// The reporter: a program of a few hundred bytes that prints which rank of the node has died, for
// launchers that kill all others before one of them can print it. reporter_start.c copies the
// section armci_reporter of the library into a file and executes that. So nothing here may refer to
// anything outside the section: no library function, no data, no string.
//
//   argument i + 1      line to print when rank i ends without a status byte (reporter.h)
//   descriptor 3 + i    a connection to rank i
//   environment         the name of the job's claim; if other hosts may ask whether the cause is
//                       known here: the answer. Other users cannot read it there
//   descriptor 3 + n    in that case: the socket that they connect to
#include <errno.h>
#include <linux/prctl.h>
#include <poll.h>
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

#define KEPT 1500 // milliseconds

static inline __attribute__((always_inline)) APART long raw_syscall(long number, long a,
	const void *b, long c, const void *d)
{
	long result;
	register const void *fourth __asm__("r10") = d;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
	                 : "rcx", "r11", "memory");
	return result;
}

// print_line writes a line to standard error.
SECTION static void print_line(const char *line)
{
	size_t n = 0;
	// volatile: else the compiler calls strlen
	for (const volatile char *end = line; *end; end++) n++;
	raw_syscall(SYS_write, 2, line, (long)n, NULL);
}

// claim_report claims the right to print why the job ends, by binding the abstract socket with the
// name of the claim; 0: a rank, which may print it, too, has bound it before.
SECTION static int claim_report(const char *name)
{
	struct sockaddr_un at;
	size_t n = 0, head = offsetof(struct sockaddr_un, sun_path) + 1;
	for (; n + 1 < sizeof at.sun_path && name[n]; n++)
		((volatile char *)at.sun_path)[n + 1] = name[n];
	at.sun_family = AF_UNIX;
	at.sun_path[0] = 0;
	long fd = raw_syscall(SYS_socket, AF_UNIX, (void *)(SOCK_DGRAM | SOCK_CLOEXEC), 0, NULL);
	return fd < 0 || n == 0 ||
		raw_syscall(SYS_bind, fd, &at, (long)(head + n), NULL) != -EADDRINUSE;
}

// print_report prints the lines of a rank that has exited without finalising, if any, and of the
// dead one.
SECTION static void print_report(const char *leaver, const char *dead)
{
	if (leaver)
		print_line(leaver);
	print_line(dead);
}

SECTION static long milliseconds(void)
{
	struct timespec now;
	raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now, 0, NULL);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// linger keeps the reporter running for KEPT after the cause of the end is known. That keeps the
// claim until the launcher has ended the other ranks, and answers inquiries of other hosts
// (inquiries.go). Standard error is closed before, since a launcher may wait for that.
SECTION static void linger(int listener, const char *answer)
{
	struct pollfd p = {.fd = listener, .events = POLLIN}; // poll ignores descriptor -1
	long end = milliseconds() + KEPT, left, n = 0;
	raw_syscall(SYS_close, 2, NULL, 0, NULL);
	while (answer && ((const volatile char *)answer)[n]) n++;
	while ((left = end - milliseconds()) > 0) {
		if (raw_syscall(SYS_poll, (long)&p, (void *)1, left, NULL) <= 0)
			continue;
		long fd = raw_syscall(SYS_accept4, listener, NULL, 0, (void *)SOCK_CLOEXEC);
		raw_syscall(SYS_write, fd, answer, n, NULL);
		raw_syscall(SYS_close, fd, NULL, 0, NULL);
	}
}

// watch_connections makes an epoll of the n connections, sends READY to rank 0, and returns the
// epoll.
SECTION static long watch_connections(long n)
{
	long poll = raw_syscall(SYS_epoll_create1, 0, NULL, 0, NULL);
	struct epoll_event e = {.events = EPOLLIN};
	char status = REPORTER_READY;
	for (; e.data.u64 < (uint64_t)n; e.data.u64++)
		raw_syscall(SYS_epoll_ctl, poll, (void *)EPOLL_CTL_ADD, (long)e.data.u64 + 3, &e);
	raw_syscall(SYS_write, 3, &status, 1, NULL);
	return poll;
}

// watch_ranks waits for a death and prints it; false: all ranks have finalised. The first
// connection that ends without a status byte is the death: epoll lists events in the order in which
// they happened, and the launcher kills afterwards (dupHigh in reporter.go). A rank that has exited
// without finalising is named, too, since it may be the reason why others end.
//
// A rank that has printed the cause may have been killed since, which has freed its claim. So bytes
// that have arrived by the time of the reporter's own claim are read before anything is printed.
SECTION static int watch_ranks(char **line, long n, const char *name)
{
	long poll = watch_connections(n), left = n, leaver = -1, dead = -1;
	struct epoll_event e;
	char status;
	while (left > 0) {
		long got = raw_syscall(SYS_epoll_wait, poll, &e, 1, (void *)(dead < 0 ? -1L : 0L));
		if (got == 0)
			break;
		if (got != 1)
			continue;
		long rank = (long)e.data.u64;
		got = raw_syscall(SYS_read, rank + 3, &status, 1, NULL);
		if (got == 1 && status == REPORTER_CLAIMED)
			return 1;
		if (got == 1 && status == REPORTER_REPORTED && dead < 0)
			return 1;
		if (got != 1 && dead < 0) {
			if (!claim_report(name))
				return 1;
			dead = rank;
		}
		if (got == 1 && status == REPORTER_LEFT && leaver < 0 && dead < 0)
			leaver = rank;
		raw_syscall(SYS_epoll_ctl, poll, (void *)EPOLL_CTL_DEL, rank + 3, &e);
		left--;
	}
	if (dead >= 0)
		print_report(leaver >= 0 ? line[leaver] : NULL, line[dead]);
	return dead >= 0;
}

// reporter_main is the program. stack, as at the start of every program: the number of arguments,
// the arguments, NULL, the environment.
SECTION static void reporter_main(long *stack)
{
	char **argument = (char **)(stack + 1);
	char **environment = argument + stack[0] + 1;
	long n = stack[0] - 1;
	raw_syscall(SYS_prctl, PR_SET_NAME, argument[0], 0, NULL);
	if (watch_ranks(argument + 1, n, environment[0]))
		linger(environment[1] ? (int)n + 3 : -1, environment[1]);
	for (;;) raw_syscall(SYS_exit_group, 0, NULL, 0, NULL);
}

SECTION __attribute__((naked)) void shm_reporter_entry(void)
{
	__asm__("mov %%rsp, %%rdi\n\tand $-16, %%rsp\n\tcall %P0" : : "i"(reporter_main));
}

#else
void shm_reporter_entry(void) {}
#endif
