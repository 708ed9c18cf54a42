// SPDX-License-Identifier: BSD-3-Clause
// The memory that C reaches: ranges of other ranks, and registered memory of this process. Callers
// hold the queues.
#include "fastpath.h"

#include <errno.h>
#include <sys/ioctl.h>

bool rdma_fast_range_covers(const struct rdma_fast_range *r, uintptr_t remote, uint64_t n)
{
	uintptr_t at = remote - r->lo;
	return at < r->bytes && n <= r->bytes - at;
}

const struct rdma_fast_range *rdma_fast_find_range(int rank, uintptr_t remote, uint64_t n)
{
	const struct rdma_fast_range *to = rdma_fast_range_set(rank, remote);
	for (unsigned way = 0; way < RDMA_FAST_WAYS; way++, to++) {
		if (to->rank == rank && rdma_fast_range_covers(to, remote, n))
			return to;
	}
	return NULL;
}

static bool covers(const struct rdma_fast_local *l, uintptr_t addr, uint64_t n)
{
	uintptr_t at = addr - l->lo;
	return at < l->bytes && n <= l->bytes - at;
}

// Whether Go has handled all unmapping of watched memory that began before the call, also in other
// threads (see pin/watch.go).
static bool nothing_unmapped(void)
{
	struct pin_watch *w = rdma_fast.watch;
	return !w || ((ioctl(w->fd, UFFDIO_WRITEPROTECT, &w->none) == 0 || errno != EAGAIN) &&
	              (atomic_load(&w->reading) & 1) == 0 &&
	              atomic_load_explicit(&w->lost, memory_order_acquire) == 0 &&
	              atomic_load_explicit(&w->written, memory_order_acquire) ==
	                      atomic_load_explicit(&w->taken, memory_order_acquire));
}

// Registered memory around an address, NULL if there is none. watched: also watched memory, for
// which the caller then checks nothing_unmapped.
static struct rdma_fast_local *local_at(uintptr_t addr, bool watched)
{
	if (rdma_fast.everywhere.bytes > 0)
		return &rdma_fast.everywhere;
	uintptr_t place = (addr >> RDMA_FAST_LOCAL_SHIFT) % RDMA_FAST_LOCALS;
	struct rdma_fast_local *l = &rdma_fast.locals[place];
	if (covers(l, addr, 1))
		return l;
	for (l = rdma_fast.watched; watched && l < rdma_fast.watched + RDMA_FAST_LOCALS; l++)
		if (covers(l, addr, 1))
			return l;
	return NULL;
}

struct rdma_fast_local *rdma_fast_find_local(uintptr_t addr, uint64_t n)
{
	struct rdma_fast_local *l = local_at(addr, true);
	return l && covers(l, addr, n) && (!l->watched || nothing_unmapped()) ? l : NULL;
}

// The part of [addr, addr + n) that is in [lo, lo + bytes).
static uint64_t within(uintptr_t addr, uint64_t n, uintptr_t lo, uintptr_t bytes)
{
	uint64_t here = lo + bytes - addr;
	return n < here ? n : here;
}

int rdma_fast_divide_transfer(const struct fast_transfer *t, bool watched,
	struct rdma_fast_piece *pieces)
{
	const struct rdma_fast_range *to = rdma_fast_find_range(t->rank, t->remote, 1);
	bool ask = false;
	int n = 0;
	if (!to || !rdma_fast_in_allocation(to, t->remote, t->remote + t->bytes))
		return 0;
	for (uint64_t at = 0; at < t->bytes; at += pieces[n++].bytes) {
		uintptr_t near = (uintptr_t)t->local + at, far = t->remote + at;
		struct rdma_fast_local *l = local_at(near, watched);
		if (!rdma_fast_range_covers(to, far, 1))
			to = rdma_fast_find_range(t->rank, far, 1);
		if (!l || !to || n == (int)RDMA_FAST_PIECES)
			return 0;
		uint64_t bytes = within(near, t->bytes - at, l->lo, l->bytes);
		bytes = within(far, bytes, to->lo, to->bytes);
		bytes = bytes < rdma_fast.piece ? bytes : rdma_fast.piece;
		pieces[n] = (struct rdma_fast_piece){.from = l, .to = to, .bytes = (uint32_t)bytes};
		ask = ask || l->watched;
	}
	return ask && !nothing_unmapped() ? 0 : n;
}
