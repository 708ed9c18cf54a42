// SPDX-License-Identifier: BSD-3-Clause
// remap.c - private memory that changes under its addresses between transfers: unmapped and mapped
// again, moved, emptied, freed and allocated, copied by a fork. What is put is what the program has
// written there, and what is got is what it finds there. It must not use memory that a transfer is
// still using.
#define _GNU_SOURCE
#include "check.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIB = 1 << 10, MOST = 12 << 20, ROUNDS = 2, TIMES = 4 };

static void **slab;          // of each rank: MOST bytes
static unsigned char *other; // memory of mine that stays
static int peer;
static uint64_t salt;

// Both ways through the peer's slab, in comparison with memory that stays.
static void once(unsigned char *p, size_t n)
{
	void *far = slab[peer];
	check_fill(p, n, ++salt);
	CHECK_OK(ARMCI_Put(p, far, (int)n, peer));
	ARMCI_Fence(peer);
	memset(other, 0, n);
	CHECK_OK(ARMCI_Get(far, other, (int)n, peer));
	CHECK_MEM(other, p, n);
	check_fill(other, n, ++salt);
	CHECK_OK(ARMCI_Put(other, far, (int)n, peer));
	ARMCI_Fence(peer);
	CHECK_OK(ARMCI_Get(far, p, (int)n, peer));
	CHECK_MEM(p, other, n);
}

// Several times: what is used again may be registered from then on. With a handle, too.
static void exchange(unsigned char *p, size_t n)
{
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	for (int i = 0; i < TIMES; i++) {
		once(p, n);
		CHECK_OK(ARMCI_NbGet(slab[peer], p, (int)n, peer, &h));
		CHECK_OK(ARMCI_Wait(&h));
		CHECK_MEM(p, other, n);
	}
}

// Maps at an address unless another thread has taken it meanwhile, else anywhere.
static unsigned char *map(void *at, size_t n)
{
	void *p = mmap(at, n, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
	if (p == MAP_FAILED && at)
		return map(NULL, n);
	CHECK(p != MAP_FAILED);
	return p;
}

static void unmapped(size_t n)
{
	unsigned char *p = map(NULL, n);
	for (int i = 0; i < ROUNDS; i++) {
		exchange(p, n);
		CHECK_OK(munmap(p, n));
		p = map(p, n);
	}
	exchange(p, n);
	CHECK_OK(munmap(p + n / 2, n / 2)); // only a part
	unsigned char *half = map(p + n / 2, n / 2);
	exchange(half == p + n / 2 ? p : half, half == p + n / 2 ? n : n / 2);
	CHECK_OK(munmap(half, n / 2));
	n /= 2;
	CHECK_OK(munmap(p, n));
}

static void moved(size_t n)
{
	unsigned char *p = map(NULL, n), *q = map(NULL, n);
	for (int i = 0; i < ROUNDS; i++) {
		exchange(p, n);
		exchange(q, n);
		// q's memory is p's now. The system call itself: UCX, below MPICH, puts its own
		// mremap before the C library's, and that one loses the last argument.
		CHECK_INT((uintptr_t)syscall(SYS_mremap, p, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, q),
			(uintptr_t)q);
		exchange(q, n);
		p = map(p, n);
	}
	exchange(p, n);
	CHECK_OK(munmap(p, n));
	CHECK_OK(munmap(q, n));
}

static void emptied(size_t n)
{
	unsigned char *p = map(NULL, n);
	for (int i = 0; i < ROUNDS; i++) {
		exchange(p, n);
		CHECK_OK(madvise(p, n, MADV_DONTNEED));
	}
	exchange(p, n);
	CHECK_OK(munmap(p, n));
}

static void allocated(size_t n)
{
	for (int i = 0; i < 2 * ROUNDS; i++) {
		unsigned char *p = malloc(n), *q = malloc(n / 2);
		CHECK(p && q);
		exchange(p, n);
		free(p);
		exchange(q, n / 2);
		p = calloc(1, n);
		CHECK(p);
		exchange(p, n);
		free(q);
		free(p);
	}
}

// The child keeps all pages, as of the fork, while the parent writes and transfers.
static void forked(size_t n)
{
	unsigned char *p = map(NULL, n), *want = malloc(n);
	int hold[2];
	CHECK(want && pipe(hold) == 0);
	exchange(p, n);
	memcpy(want, p, n);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		char c;
		close(hold[1]);
		_exit(read(hold[0], &c, 1) != 0 || memcmp(p, want, n) != 0);
	}
	close(hold[0]);
	exchange(p, n);
	exchange(p, n);
	close(hold[1]);
	int status = -1;
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK_INT(status, 0);
	exchange(p, n);
	free(want);
	CHECK_OK(munmap(p, n));
}

int main(int argc, char **argv)
{
	const size_t sizes[] = {16 * KIB, 64 * KIB, 1024 * KIB};
	check_begin(&argc, &argv);
	peer = (me + 1) % np;
	slab = check_malloc(MOST);
	other = ARMCI_Malloc_local(MOST);
	CHECK(other);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		unmapped(sizes[i]);
		moved(sizes[i]);
		emptied(sizes[i]);
		allocated(sizes[i]);
		forked(sizes[i]);
	}
	unsigned char *large = check_alloc(MOST); // more than may be pinned where little may
	exchange(large, MOST);
	free(large);
	ARMCI_Barrier();
	ARMCI_Free_local(other);
	check_free(slab);
	return check_end("remap");
}
