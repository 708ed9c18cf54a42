// SPDX-License-Identifier: BSD-3-Clause
// The memory that C reaches: ranges of other ranks, and registered memory of this process. The caller
// has the queues.
#include "fastpath.h"

#include <errno.h>
#include <sys/ioctl.h>

const struct rdma_fast_range *rdma_fast_range_of(int rank, uintptr_t remote, uint64_t n)
{
	const struct rdma_fast_range *to = rdma_fast_place(rank, remote);
	for (unsigned way = 0; way < RDMA_FAST_WAYS; way++, to++) {
		uintptr_t at = remote - to->lo;
		if (to->rank == rank && at < to->bytes && n <= to->bytes - at)
			return to;
	}
	return NULL;
}

static bool covers(const struct rdma_fast_local *l, uintptr_t addr, uint64_t n)
{
	uintptr_t at = addr - l->lo;
	return at < l->bytes && n <= l->bytes - at;
}

// Whether Go has been told of all memory that was unmapped before the call, also of what another
// thread is just unmapping (pin/watch.go says how).
static bool nothing_unmapped(void)
{
	struct pin_watch *w = rdma_fast.watch;
	return !w || ((ioctl(w->fd, UFFDIO_WRITEPROTECT, &w->none) == 0 || errno != EAGAIN) &&
	              (__atomic_load_n(&w->reading, __ATOMIC_SEQ_CST) & 1) == 0 &&
	              __atomic_load_n(&w->lost, __ATOMIC_ACQUIRE) == 0 &&
	              __atomic_load_n(&w->written, __ATOMIC_ACQUIRE) ==
	                      __atomic_load_n(&w->taken, __ATOMIC_ACQUIRE));
}

// Registered memory around an address. watched: such memory, too, if nothing has been unmapped.
static struct rdma_fast_local *local_at(uintptr_t addr, bool watched)
{
	uintptr_t place = (addr >> RDMA_FAST_LOCAL_SHIFT) % RDMA_FAST_LOCALS;
	struct rdma_fast_local *l = &rdma_fast.locals[place];
	if (covers(l, addr, 1))
		return l;
	for (l = rdma_fast.watched; watched && l < rdma_fast.watched + RDMA_FAST_LOCALS; l++)
		if (covers(l, addr, 1))
			return l;
	return NULL;
}

struct rdma_fast_local *rdma_fast_local_of(uintptr_t addr, uint64_t n)
{
	struct rdma_fast_local *l = local_at(addr, true);
	return l && covers(l, addr, n) && (!l->watched || nothing_unmapped()) ? l : NULL;
}

int rdma_fast_divide(uintptr_t addr, uint64_t n, bool watched, struct rdma_fast_local **from,
	uint32_t *bytes)
{
	bool ask = false;
	int pieces = 0;
	for (uint64_t at = 0; at < n; at += bytes[pieces++]) {
		struct rdma_fast_local *l = local_at(addr + at, watched);
		if (!l || pieces == (int)RDMA_FAST_PIECES)
			return 0;
		uint64_t left = n - at, here = l->lo + l->bytes - (addr + at);
		left = left < here ? left : here;
		bytes[pieces] = (uint32_t)(left < rdma_fast.piece ? left : rdma_fast.piece);
		from[pieces] = l;
		ask = ask || l->watched;
	}
	return ask && !nothing_unmapped() ? 0 : pieces;
}
