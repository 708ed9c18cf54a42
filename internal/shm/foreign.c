// SPDX-License-Identifier: BSD-3-Clause
// Memory of another process of the node that is not in the arena: the kernel copies it
// (process_vm_readv, process_vm_writev). Where the kernel refuses, a thread of the owner does
// (request.c). Callers have checked that the rank owns the memory.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "request.h"
#include "shm.h"

#define BATCH 256u // pieces of one call of the kernel; IOV_MAX is 1024

static uint64_t witness; // of this process; others read it

int shm_expose_open(uint64_t value)
{
	struct shm_rank *r = &shm.rank[shm.me];
	witness = value;
	r->witness_at = (uintptr_t)&witness;
	r->witness = value;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); // fails without Yama: not needed
	int err = shm_request_thread_start();
	atomic_store_explicit(&r->exposes, 1, memory_order_release);
	return err;
}

// The pid of a rank of another namespace may be that of another process here, which does not have
// the value of the witness.
bool shm_vm_allowed(int local)
{
	const struct shm_rank *r = &shm.rank[local];
	uint64_t found = ~r->witness;
	struct k_run probe = {(uintptr_t)&found, r->witness_at, sizeof found};
	return shm_vm_move(local, &probe, 1, false) == 0 && found == r->witness;
}

// list_pieces makes at most BATCH pieces of n runs, and returns their number. done: bytes of the
// first run that have been copied before.
static unsigned list_pieces(const struct k_run *r, size_t n, size_t done, struct iovec *mine,
	struct iovec *theirs)
{
	unsigned m = n < BATCH ? (unsigned)n : BATCH;
	for (unsigned i = 0; i < m; i++) {
		size_t skip = i ? 0 : done;
		mine[i] = (struct iovec){(void *)(r[i].local + skip), (size_t)r[i].bytes - skip};
		theirs[i] = (struct iovec){(void *)(r[i].remote + skip), (size_t)r[i].bytes - skip};
	}
	return m;
}

int shm_vm_move(int local, const struct k_run *r, size_t n, bool write)
{
	struct iovec mine[BATCH], theirs[BATCH];
	pid_t pid = shm.rank[local].pid;
	for (size_t done = 0; n > 0;) {
		unsigned m = list_pieces(r, n, done, mine, theirs);
		ssize_t got = write ? process_vm_writev(pid, mine, m, theirs, m, 0) :
				      process_vm_readv(pid, mine, m, theirs, m, 0);
		if (got < 0)
			return errno;
		if (got == 0)
			return EFAULT;
		done += (size_t)got; // short at memory that is not mapped: the next call fails
		while (n > 0 && done >= (size_t)r->bytes) {
			done -= (size_t)r->bytes;
			r++;
			n--;
		}
	}
	return 0;
}
