// SPDX-License-Identifier: BSD-3-Clause
// Refuses to start Go where the limit of address space (RLIMIT_AS) is too low for it: Go would end the process with text about
// its own memory. It runs when the library is loaded, before Go's constructor, and says what the limit must be.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

// What Go 1.26 reserves on processors with addresses of 48 bits, and what it and the C library's allocator need soon.
enum { GO_MIB = 1280, HEAP_MIB = 192, THREADS = 16, USUAL_STACK_MIB = 2, NO_MEMORY = 6 };

static uint64_t limit_of(int what)
{
	struct rlimit r;
	return getrlimit(what, &r) != 0 || r.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)r.rlim_cur;
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

// Has a priority, and so precedes Go's constructor, which has none.
__attribute__((constructor(102))) static void check_space(void)
{
	uint64_t limit = limit_of(RLIMIT_AS), stack = limit_of(RLIMIT_STACK);
	if (limit == UINT64_MAX)
		return;
	if (stack == UINT64_MAX)
		stack = USUAL_STACK_MIB * MIB;
	uint64_t need = (used() + (GO_MIB + HEAP_MIB) * MIB + THREADS * stack + MIB - 1) / MIB * MIB;
	if (limit >= need)
		return;
	char host[65] = "", line[400];
	gethostname(host, sizeof host - 1);
	int n = snprintf(line, sizeof line, "[?@%s] not enough memory: the limit of address space, which is %llu MiB, is too low "
		"for this library and the Go runtime in it: raise it to %llu MiB (ulimit -v %llu)\n", host,
		(unsigned long long)(limit / MIB), (unsigned long long)(need / MIB), (unsigned long long)(need / 1024));
	ssize_t written = write(STDERR_FILENO, line, (size_t)n);
	(void)written;    // a broken standard error is not worth another error
	_exit(NO_MEMORY); // the status of a rank that ends in armci_msg_init without memory
}
