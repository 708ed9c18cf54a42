/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables are symmetric, too, where a library has replaced mremap by one that knows four
 * arguments, as the hooks of UCX do. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

static long word = 5;

void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	return (void *)syscall(SYS_mremap, old, old_bytes, bytes, flags & ~MREMAP_FIXED, NULL);
}

int main(void)
{
	begin();
	CHECK(word == 5);
	shmem_barrier_all();
	shmem_long_p(&word, 100 + me, right);
	shmem_barrier_all();
	CHECK(word == 100 + left);
	shmem_barrier_all();
	return end("hooked");
}
