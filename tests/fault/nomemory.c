// SPDX-License-Identifier: BSD-3-Clause
// nomemory.c - preloaded: the Nth malloc, calloc or realloc that a library of this project calls in
// the process is refused, and said so (NOMEMORY_AT=N; unset: none). Other callers get theirs.
//
// A program may include this file and call refuse(). With NOMEMORY_CALLOC only calls of calloc
// count: Go's runtime, which ends the process, and messages that other ranks send make none.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);

static atomic_long calls, at = -1;

// refuse has the nth call from now on fail; 0: none.
__attribute__((unused)) static void refuse(long nth)
{
	atomic_store(&calls, 0);
	atomic_store(&at, nth);
}

// is_ours reports whether code is in a library of this project.
static bool is_ours(const void *code)
{
	Dl_info info;
	if (!dladdr(code, &info) || !info.dli_fname)
		return false;
	const char *name = strrchr(info.dli_fname, '/');
	name = name ? name + 1 : info.dli_fname;
	return strncmp(name, "libarmci", 8) == 0 || strncmp(name, "libshmem_armci", 14) == 0 ||
		strncmp(name, "libcaf_armci", 12) == 0;
}

static bool is_refused(const void *caller)
{
	if (atomic_load(&at) < 0) {
		const char *text = getenv("NOMEMORY_AT");
		atomic_store(&at, text ? atol(text) : 0);
	}
	if (atomic_load(&at) == 0 || !is_ours(caller) ||
		atomic_fetch_add(&calls, 1) + 1 != atomic_load(&at))
		return false;
	static const char line[] = "nomemory: a call of malloc is refused\n";
	if (write(2, line, sizeof line - 1) < 0)
		return false;
	errno = ENOMEM;
	return true;
}

#ifndef NOMEMORY_CALLOC
void *malloc(size_t bytes)
{
	return is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *realloc(void *p, size_t bytes)
{
	return is_refused(__builtin_return_address(0)) ? NULL : __libc_realloc(p, bytes);
}
#endif

void *calloc(size_t n, size_t bytes)
{
	return is_refused(__builtin_return_address(0)) ? NULL : __libc_calloc(n, bytes);
}
