// SPDX-License-Identifier: BSD-3-Clause
// Says which limit is too low for Go, which would end the process with text about itself: the limit
// of address space (RLIMIT_AS) when the library is loaded, before Go's constructor; that of threads
// when one cannot be created.
#define _GNU_SOURCE
#include "space.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

// What Go 1.26 reserves on processors with addresses of 48 bits, and what it and the C library's
// allocator need soon.
enum { GO_MIB = 1280, HEAP_MIB = 192, THREADS = 16, USUAL_STACK_MIB = 2 };
enum { NO_MEMORY = 6 }; // the status of a rank that ends in armci_msg_init without memory

static uint64_t limit_of(int what)
{
	struct rlimit r;
	bool none = getrlimit(what, &r) != 0 || r.rlim_cur == RLIM_INFINITY;
	return none ? UINT64_MAX : (uint64_t)r.rlim_cur;
}

// Bytes of address space in use; 0 without /proc.
static uint64_t used(void)
{
	char text[32] = "";
	unsigned long pages = 0;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && sscanf(text, "%lu", &pages) != 1)
		pages = 0;
	if (fd >= 0)
		close(fd);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

// Prints a line with the host in front, and ends the process.
__attribute__((noreturn)) static void refuse(const char *text)
{
	char host[65] = "", line[500];
	gethostname(host, sizeof host - 1);
	int n = snprintf(line, sizeof line, "[?@%s] %s\n", host, text);
	ssize_t written = write(STDERR_FILENO, line, (size_t)n);
	(void)written; // a broken standard error is not worth another error
	_exit(NO_MEMORY);
}

void space_no_thread(int err)
{
	char advice[300], text[400];
	uint64_t processes = limit_of(RLIMIT_NPROC), space = limit_of(RLIMIT_AS);
	if (processes != UINT64_MAX && geteuid() != 0)
		snprintf(advice, sizeof advice,
			"the limit of processes and threads of this user is %llu: raise it by "
			"%d for each rank of this host (ulimit -u)",
			(unsigned long long)processes, THREADS);
	else if (space != UINT64_MAX)
		snprintf(advice, sizeof advice,
			"raise the limit of address space, which is %llu MiB, by 512 MiB "
			"(ulimit -v)",
			(unsigned long long)(space / MIB));
	else
		snprintf(advice, sizeof advice,
			"raise the limit of threads of the control group (pids.max) by %d for "
			"each rank of this host",
			THREADS);
	snprintf(text, sizeof text, "a thread of the library cannot be created (%s): %s",
		strerror(err), advice);
	refuse(text);
}

// Has a priority, and so precedes Go's constructor, which has none.
__attribute__((constructor(102))) static void check_space(void)
{
	uint64_t limit = limit_of(RLIMIT_AS), stack = limit_of(RLIMIT_STACK);
	if (limit == UINT64_MAX)
		return;
	if (stack == UINT64_MAX)
		stack = USUAL_STACK_MIB * MIB;
	uint64_t need = used() + (GO_MIB + HEAP_MIB + 1) * MIB + THREADS * stack;
	need -= need % MIB;
	if (limit >= need)
		return;
	char text[400];
	snprintf(text, sizeof text,
		"not enough memory: the limit of address space, which is %llu MiB, is too low for "
		"this library and the Go runtime in it: raise it to %llu MiB (ulimit -v %llu)",
		(unsigned long long)(limit / MIB), (unsigned long long)(need / MIB),
		(unsigned long long)(need / 1024));
	refuse(text);
}
