// SPDX-License-Identifier: BSD-3-Clause
// Shared by the C files: the one question "is this rank on my node, and is the call plain?", and
// the entry into Go if it is not. The fast path succeeds, or declines before it has written a byte;
// it never logs, allocates or reports an error.
#ifndef ARMCI_FRONT_H
#define ARMCI_FRONT_H

#if defined(__GNUC__) && !defined(__clang__)
// public functions stay on the stack, so that crash reports name them
#pragma GCC optimize("no-optimize-sibling-calls", "align-functions=64")
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
#include "../internal/recorder/profile.h"
#include "../internal/shm/shm.h"
#include "../internal/transport/fast.h"

// PUBLIC: exported under its own name. WEAK(name): the public name `name` of the strong P`name`,
// open to interposition.
#define PUBLIC     __attribute__((visibility("default")))
#define WEAK(name) \
	extern __typeof__(P##name) name \
		__attribute__((weak, alias("P" #name), visibility("default")))
#define WEAK_AS(name, strong) \
	extern __typeof__(strong) name __attribute__((weak, alias(#strong), visibility("default")))
#define likely(x)  __builtin_expect(!!(x), 1)
// The rare part of a function, kept out of line so that the frequent part needs no stack frame.
#define SECOND     static __attribute__((noinline, cold))

#ifdef ARMCI_MPI_COMM_
typedef ARMCI_MPI_COMM_ front_comm; // ARMCI-MPI's ABI: the size is part of it
#else
// of either MPI: callers pass 4 or 8 bytes, Go uses as many as their MPI has
typedef uintptr_t front_comm;
#endif

// What is collected under a handle, or while an answer is outstanding (core.Batch in Go).
// front_collect and front_coalesce add operations that are like those already there.
#define FRONT_BATCH 1024
#define FRONT_BATCHES 8u
#define FRONT_COALESCERS 16u
struct front_batch {
	_Atomic uint32_t busy;
	_Atomic uintptr_t owner;
	int32_t kind, proc, most, n;
	uintptr_t lo, size, room;
	uintptr_t local[FRONT_BATCH], remote[FRONT_BATCH];
	int32_t bytes[FRONT_BATCH];
};

// Notifications to and from another rank (core.Notified).
struct notified {
	_Atomic uint32_t waited, sent;
	_Atomic uintptr_t at; // my counter there; 0: Go has to notify
};

// Published by Go. ranks is 0 while the fast path is off (before init, after finalize,
// ARMCI_FASTPATH=n, ARMCI_TRACE=y), and for `front` while calls are profiled: then front_inner is
// open, which the inner copies of the sources use (profile_calls.h).
struct front {
	_Atomic unsigned ranks;
	int me;
	bool profiled;
	// a device writes events of other nodes, which wakes no waiter (core.EventWords)
	bool words;
	const int *local;      // local number of each rank, -1 on another node
	// changes when the fast path is opened or closed, which invalidates cached regions
	_Atomic uint64_t key;
	struct k_stripes stripes;
	struct shm_team *world; // NULL unless all ranks are on this node
	_Atomic int aggregates; // handles marked as collecting
	struct traffic *traffic; // of Go (core.Traffic), by rank, and one more for all together
	struct notified *notified; // of Go (core.Notified), by rank
	// FRONT_BATCHES by the handle's address; NULL if all ranks are on this node
	struct front_batch *batches;
	struct front_batch *coalesced; // FRONT_COALESCERS by rank; NULL if nothing is coalesced
	_Atomic int32_t uncoalesced; // of those that Go has to post, counted by Go
	// handles under which operations are open, counted by Go
	_Alignas(SHM_LINE) _Atomic int32_t open;
	_Atomic int32_t implicit; // operations without a handle that are open, counted by Go
};
extern struct front front, front_inner;
extern _Atomic int32_t front_lock_queues; // of mutexes here, in Go, for ranks of other nodes
extern struct front *front_used; // the one that Go opens

#ifdef FRONT_INNER
#define front front_inner
#define PROFILED(name, ...) ((void)0)
#else
// RECORDED(op, public, proc, bytes, type, call): the value of a call that is Go's alone, recorded
// if calls are profiled.
#define RECORDED(op, public, proc, bytes, type, call) \
	do { \
		if (__builtin_expect(!front.profiled, 1)) \
			return call; \
		struct profile_span span_ = profile_begin(public, proc, bytes); \
		profile_entered_go = true; \
		type result_ = call; \
		profile_end(&span_, op, proc, bytes); \
		return result_; \
	} while (0)

// Goes on in profiled_name if calls are profiled.
#define PROFILED(name, ...) \
	do { \
		if (__builtin_expect(front.profiled, 0)) \
			return profiled_##name(__VA_ARGS__); \
	} while (0)
#include "profile_calls.h"
#endif

// Regions cached by a thread: key = front.key + rank, valid while *gen is `seen`.
#define FRONT_HITS 8u
struct front_hit {
	uint64_t key, lo, len, seen;
	shm_u64 *gen;
};
extern _Thread_local struct front_hit front_hits[FRONT_HITS]
	__attribute__((tls_model("initial-exec")));

bool front_find(unsigned proc, const void *p, uint64_t n);

// Blocking operations of one rank take effect in the order of the calls: on x86 no instruction,
// elsewhere a barrier before each access. (A load may still overtake an earlier store to another
// place, as on x86.)
static inline void front_order(void) { atomic_thread_fence(memory_order_acq_rel); }

// Are the n > 0 bytes at p in a cached region of rank proc? No entry matches if proc is not a rank
// or the library is closed.
static inline bool front_known(int proc, const void *p, uint64_t n)
{
	front_order();
	unsigned rank = (unsigned)proc;
	struct front_hit *h = &front_hits[(rank ^ ((uintptr_t)p >> 22)) % FRONT_HITS];
	uint64_t key = atomic_load_explicit(&front.key, memory_order_acquire) + rank;
	// in sequence: combining the tests needs registers that must be saved
	if (!likely(h->key == key))
		return false;
	uint64_t at = (uintptr_t)p - h->lo;
	__asm__("" : "+r"(at)); // else gcc computes the region's end too
	return at < h->len && n <= h->len - at &&
		atomic_load_explicit(h->gen, memory_order_acquire) == h->seen;
}

// May C access the n > 0 bytes at p as memory of rank proc?
static inline bool front_reach(int proc, const void *p, uint64_t n)
{
	return likely(front_known(proc, p, n)) ||
		((unsigned)proc < atomic_load_explicit(&front.ranks, memory_order_acquire) &&
			front_find((unsigned)proc, p, n));
}

// May this be memory of the caller? Not NULL, and not in the upper half of the address space, where
// (void *)-1 is.
static inline bool front_address(const void *p) { return (intptr_t)p > 0; }

// Is this a rank of this node?
static inline bool front_here(int proc)
{
	return (unsigned)proc < atomic_load_explicit(&front.ranks, memory_order_acquire) &&
		front.local[proc] >= 0;
}

bool front_collect(int kind, void *local, void *remote, int bytes, int proc, void *hdl);
bool front_coalesce(int kind, void *local, void *remote, int bytes, int proc, void *hdl);

// The fast path to other nodes (fast.h), NULL if there is none or proc is not a rank.
static inline const struct fast_path *front_fast(unsigned proc)
{
	const struct fast_path *f = atomic_load_explicit(&fast_path, memory_order_acquire);
	return f && proc < atomic_load_explicit(&front.ranks, memory_order_acquire) ? f : NULL;
}

// A blocking transfer for the fast path.
static inline struct fast_transfer front_transfer(int proc, void *local, void *remote, uint64_t n)
{
	return (struct fast_transfer){.rank = proc, .local = local, .remote = (uintptr_t)remote,
		.bytes = n, .blocking = true, .at = &front.traffic[proc],
		.all = &front.traffic[front.ranks]};
}

// Ranks of this node are accessed by loads and stores, which a CPU fence orders. That is all for
// another node, too, if no stores are outstanding there. `who` is a rank, or the number of ranks,
// which means all.
static inline bool front_fence_here(unsigned who)
{
	const struct traffic *t = &front.traffic[who];
	if (atomic_load_explicit(&front.aggregates, memory_order_relaxed) != 0 ||
		atomic_load_explicit(&front.uncoalesced, memory_order_relaxed) != 0 ||
		atomic_load_explicit(&t->posted, memory_order_relaxed) !=
			atomic_load_explicit(&t->fenced, memory_order_relaxed))
		return false;
	atomic_thread_fence(memory_order_seq_cst);
	return true;
}

#define FRONT_WORLD 0
#define FRONT_TEAMS 1024u
extern _Atomic(struct shm_team *) front_teams[FRONT_TEAMS]; // by group; NULL: Go has to act

static inline bool front_on(void)
{
	return atomic_load_explicit(&front.ranks, memory_order_acquire) != 0;
}

// The first four bytes of a handle under which nothing is open.
#define FRONT_DONE 0

// A nonblocking call is complete. While operations are open under any handle of Go's, this one
// stays as it is, since it may be one of them; if it is none, Go finds nothing open under it.
static inline void front_done(void *hdl)
{
	if (hdl && likely(atomic_load_explicit(&front.open, memory_order_relaxed) == 0) &&
	    !fast_request_open(*(int32_t *)hdl))
		*(int32_t *)hdl = FRONT_DONE;
}

// Most bytes of a procedure call's header, and of its data. procedures.go compares it with
// core.MaxProcedure.
#define FRONT_GPC_BYTES (32 << 20)

// A data operation for Go. local is the source of a put or accumulate, the destination of a get.
enum { FRONT_PUT, FRONT_GET, FRONT_ACC };
// TEMPORARY: nonblocking, but `local` is invalid after the call. FOLLOWED: blocking, and the caller
// stores at the same rank again at once, so that both may travel together.
enum { FRONT_BLOCKING, FRONT_NONBLOCKING, FRONT_TEMPORARY, FRONT_FOLLOWED };
enum { FRONT_PLAIN, FRONT_STRIDED, FRONT_VECTOR }; // decides the names of the arguments in messages
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

// Is there something to move, is its size within bounds, and is all of it memory of a rank of this
// node?
static inline bool front_reach_shape(int proc, void *remote, int *stride, int *count, int levels)
{
	int64_t lo, hi;
	if (levels < 0 || levels > K_MAX_LEVELS || !count || (levels > 0 && !stride) ||
		!front_here(proc))
		return false;
	int64_t n = k_extent(stride, count, levels, &lo, &hi);
	return n > 0 && n <= K_MOST_BYTES &&
		front_reach(proc, (void *)((uintptr_t)remote + (uint64_t)lo),
			(uint64_t)hi - (uint64_t)lo);
}

// Vector calls that are still looked at, in case the program was compiled with the other armci.h,
// and the look, which ends the job then (layout.c).
extern _Atomic int layout_calls_left;
void layout_look(const char *name, const armci_giov_t *v, int n, int proc, bool get,
	bool may_overlap);

// Group handles in both ABIs.
int front_group(ARMCI_Group *group);                  // its id, -1 for NULL or an invalid handle

// The team of a group that the caller is in and whose members are all on this node, else NULL.
static inline struct shm_team *front_team(int group)
{
	return (unsigned)group < FRONT_TEAMS && front_on() ?
		atomic_load_explicit(&front_teams[group], memory_order_acquire) :
		NULL;
}
void front_set_group(ARMCI_Group *group, int id, uintptr_t comm, int rank, int size);

#endif
