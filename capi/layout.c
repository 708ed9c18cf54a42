// SPDX-License-Identifier: BSD-3-Clause
// Notices programs that were compiled with the other armci.h: classic ARMCI and ARMCI-MPI have the
// two numbers of armci_giov_t in opposite order. The library cannot see which header was used, but
// in most programs an early vector call makes sense in one order only: segments of one call do not
// overlap at their destination, and all addresses are memory of the target.
#define _GNU_SOURCE
#include "front.h"

#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "go.h"

enum { SEGMENTS_LOOKED_AT = 64, CALLS_LOOKED_AT = 256 };

_Atomic int layout_calls_left = CALLS_LOOKED_AT; // 0: the layout is right, or not known by now

// One descriptor in both readings: `count` segments of `bytes`, or `bytes` segments of `count`.
struct reading {
	void **remote, **local;
	bool remote_is_destination, here;
	int count, bytes, proc;
};

// May these bytes be memory of the target? That of other nodes is only known to be near its other
// segments.
static bool reachable(const struct reading *r, const void *p, int bytes)
{
	if (!front_address(p))
		return false;
	if (r->here)
		return front_reach(r->proc, p, (uint64_t)bytes);
	int64_t away = (int64_t)((uintptr_t)p - (uintptr_t)r->remote[0]);
	return llabs(away) < (int64_t)1 << 40;
}

// Reads pointers that lie beyond the array in one of the readings.
static bool read_pointers(void **at, void **out, int n)
{
	struct iovec local = {out, (size_t)n * sizeof *out}, remote = {at, (size_t)n * sizeof *at};
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)local.iov_len;
}

// The shortest distance between destinations that follow each other.
static uint64_t least_gap(void *const *destination, int n)
{
	uint64_t least = UINT64_MAX;
	for (int i = 1; i < n; i++) {
		uint64_t a = (uintptr_t)destination[i - 1], b = (uintptr_t)destination[i];
		uint64_t gap = a < b ? b - a : a - b;
		if (gap < least)
			least = gap;
	}
	return least;
}

// The segments overlap. Do they not, and are there as many as the other reading has?
static bool goes_on(const struct reading *r)
{
	void *remote[SEGMENTS_LOOKED_AT], *local[SEGMENTS_LOOKED_AT];
	int n = r->bytes < SEGMENTS_LOOKED_AT ? r->bytes : SEGMENTS_LOOKED_AT;
	if (!read_pointers(r->remote, remote, n) || !read_pointers(r->local, local, n))
		return false;
	for (int i = 0; i < n; i++)
		if (!reachable(r, remote[i], r->count) || !front_address(local[i]))
			return false;
	return least_gap(r->remote_is_destination ? remote : local, n) >= (uint64_t)r->count;
}

// Do the right addresses end just where the other reading says?
static bool ends_early(const struct reading *r)
{
	void *next;
	if (r->count <= r->bytes || !read_pointers(r->remote + r->bytes, &next, 1) ||
		reachable(r, next, r->bytes))
		return false;
	for (int i = 0; i < r->bytes; i++)
		if (!reachable(r, r->remote[i], r->count) || !front_address(r->local[i]))
			return false;
	return true;
}

enum verdict { UNDECIDED, RIGHT, OTHER };

static enum verdict judge(const struct reading *r, bool may_overlap)
{
	int sure = r->count < r->bytes ? r->count : r->bytes; // segments that both readings have
	void **destination = r->remote_is_destination ? r->remote : r->local;
	uint64_t gap = least_gap(destination,
		sure < SEGMENTS_LOOKED_AT ? sure : SEGMENTS_LOOKED_AT);
	if (gap >= (uint64_t)r->bytes && gap < (uint64_t)r->count)
		return RIGHT;
	if (gap < (uint64_t)r->bytes && gap >= (uint64_t)r->count && !may_overlap && goes_on(r))
		return OTHER;
	return ends_early(r) ? OTHER : UNDECIDED;
}

void layout_look(const char *name, const armci_giov_t *v, int n, int proc, bool get,
	bool may_overlap)
{
	atomic_fetch_sub(&layout_calls_left, 1);
	for (int i = 0; v && i < n; i++) {
		const armci_giov_t *d = &v[i];
		if (!d->src_ptr_array || !d->dst_ptr_array || d->bytes <= 0 ||
			d->ptr_array_len <= 0 || d->bytes == d->ptr_array_len)
			continue;
		struct reading r = {.remote = get ? d->src_ptr_array : d->dst_ptr_array,
			.local = get ? d->dst_ptr_array : d->src_ptr_array,
			.remote_is_destination = !get,
			.here = front_here(proc),
			.count = d->ptr_array_len,
			.bytes = d->bytes,
			.proc = proc};
		switch (judge(&r, may_overlap)) {
		case RIGHT:
			atomic_store(&layout_calls_left, 0);
			return;
		case OTHER:
			armcigo_other_layout((char *)name);
			return;
		case UNDECIDED:
			break;
		}
	}
}
