// SPDX-License-Identifier: BSD-3-Clause
// What the C half of the front door shares: the one question "is this rank on my node and is the call plain?", and the
// way into Go when it is not. The fast path succeeds or declines before it has written a byte; it never logs,
// allocates or reports an error.
#ifndef ARMCI_FRONT_H
#define ARMCI_FRONT_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-optimize-sibling-calls", "align-functions=64") // a public function stays on the stack, so that a crash report names it
#endif

#define ARMCI_NO_MPI 1 // the library is built without any MPI's header
#pragma GCC visibility push(default)
#include "../include/armci.h"
#include "../include/armcix.h"
#include "../include/gpc.h"
#pragma GCC visibility pop
#undef ARMCI_INIT_HANDLE
#undef armci_msg_sel

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../internal/kernel/kernel.h"
#include "../internal/rdma/lane/lane.h"
#include "../internal/shm/shm.h"

// PUBLIC: exported under its own name. WEAK(name): the public name `name` of the strong P`name`, open to interposition.
#define PUBLIC     __attribute__((visibility("default")))
#define WEAK(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name), visibility("default")))
#define WEAK_AS(name, strong) extern __typeof__(strong) name __attribute__((weak, alias(#strong), visibility("default")))
#define likely(x)  __builtin_expect(!!(x), 1)
// The second half of a function whose first half answers the frequent case: kept out of it, so that it needs no frame.
#define SECOND     static __attribute__((noinline, cold))

#ifdef ARMCI_MPI_COMM_
typedef ARMCI_MPI_COMM_ front_comm; // ARMCI-MPI's ABI: the size is part of it
#else
typedef uintptr_t front_comm; // either MPI's: callers pass 4 or 8 bytes, Go looks at as many as their MPI has
#endif

// What is collected under a handle: Go's (core.Batch). Added to by front_collect if it is like what is there.
#define FRONT_BATCH   1024
#define FRONT_BATCHES 8u
struct front_batch {
	_Atomic uint32_t busy;
	_Atomic uintptr_t handle;
	int32_t kind, proc, bytes, n;
	uintptr_t lo, span;
	uintptr_t local[FRONT_BATCH], remote[FRONT_BATCH];
};

// Published by Go. ranks is 0 while the fast path is off (before init, after finalize, ARMCI_FASTPATH=n, tracing).
struct front {
	_Atomic unsigned ranks;
	int me;
	const int *local;      // local number of each rank, -1 on another node
	_Atomic uint64_t key;  // changes whenever the fast path is opened or closed: invalidates hits
	struct k_stripes stripes;
	struct shm_hold *world; // NULL unless all ranks are on this node
	uint8_t **mutex;       // by rank of this node: first mutex it hosts; NULL without mutexes
	const int *mutexes;    // by rank: how many
	_Atomic int aggregates; // handles marked as collecting
	struct lane_traffic *traffic; // of Go (core.Traffic), by rank, and one more for all together
	struct front_batch *batches; // FRONT_BATCHES by the handle's address; NULL if all ranks are on this node
};
extern struct front front;

// What a thread remembers of regions it has found live: key = front.key + rank, valid while *gen is `seen`.
#define FRONT_HITS 8u
struct front_hit {
	uint64_t key, lo, len, seen;
	shm_u64 *gen;
};
extern _Thread_local struct front_hit front_hits[FRONT_HITS] __attribute__((tls_model("initial-exec")));

bool front_find(unsigned proc, const void *p, uint64_t n);

// Are the n > 0 bytes at p in a region of rank proc that this thread remembers? A rank that is none, or a library that is
// closed, has no key.
static inline bool front_known(int proc, const void *p, uint64_t n)
{
	unsigned rank = (unsigned)proc;
	struct front_hit *h = &front_hits[(rank ^ ((uintptr_t)p >> 22)) % FRONT_HITS];
	uint64_t key = atomic_load_explicit(&front.key, memory_order_acquire) + rank;
	if (!likely(h->key == key)) // one thing after the other: all at once needs registers that must be saved
		return false;
	uint64_t at = (uintptr_t)p - h->lo;
	__asm__("" : "+r"(at)); // else gcc computes the region's end too
	return at < h->len && n <= h->len - at && atomic_load_explicit(h->gen, memory_order_acquire) == h->seen;
}

// May the n > 0 bytes at p be touched as memory of rank proc, from here, without asking Go?
static inline bool front_reach(int proc, const void *p, uint64_t n)
{
	return likely(front_known(proc, p, n)) ||
	       ((unsigned)proc < atomic_load_explicit(&front.ranks, memory_order_acquire) && front_find((unsigned)proc, p, n));
}

bool front_collect(int kind, void *local, void *remote, int bytes, int proc, void *hdl);

// May small transfers take the short way to other nodes (lane.h), and is this a rank?
static inline bool front_lane(unsigned proc)
{
	return atomic_load_explicit(&lane.open, memory_order_relaxed) &&
	       proc < atomic_load_explicit(&front.ranks, memory_order_acquire);
}

static inline bool front_on(void) { return atomic_load_explicit(&front.ranks, memory_order_acquire) != 0; }

// A finished nonblocking call leaves this in the first four bytes of its handle.
#define FRONT_DONE 0
static inline void front_done(void *hdl)
{
	if (hdl)
		*(int32_t *)hdl = FRONT_DONE;
}

// A data operation on its way into Go. local is the source of a put or accumulate, the destination of a get.
enum { FRONT_PUT, FRONT_GET, FRONT_ACC };
enum { FRONT_BLOCKING, FRONT_NONBLOCKING, FRONT_SOON }; // SOON: nonblocking, but `local` is gone when the call returns
enum { FRONT_PLAIN, FRONT_STRIDED, FRONT_VECTOR }; // what the caller calls the two sides
struct front_call {
	const char *name; // of the public function, for messages
	int kind, proc, optype;
	void *scale;
	void *local, *remote;
	int *local_stride, *remote_stride, *count;
	int levels;
	armci_giov_t *vector;
	int vectors;
	int shape, nonblocking;
	void *hdl;
};

// Strided accesses [lo, hi) relative to the remote base; false if they are not plain.
static inline bool front_reach_shape(int proc, void *remote, int *stride, int *count, int levels)
{
	int64_t lo, hi;
	if (levels < 0 || levels > K_MAX_LEVELS || !count || (levels > 0 && !stride))
		return false;
	for (int i = 0; i <= levels; i++)
		if (count[i] <= 0)
			return false;
	k_extent(stride, count, levels, &lo, &hi);
	return front_reach(proc, (char *)remote + lo, (uint64_t)(hi - lo));
}

// Group handles in both ABIs.
int front_group(ARMCI_Group *group);                  // its id, -1 for NULL or nonsense
void front_set_group(ARMCI_Group *group, int id, uintptr_t comm, int rank, int size);

#endif
