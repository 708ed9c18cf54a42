// SPDX-License-Identifier: BSD-3-Clause
// Shared by the files that carry windows: access to a target (is there an epoch, is the memory
// within the window, can I load and store there?) and the calls into Go for everything that is not
// a load or a store.
#ifndef MPIRMA_WINDOW_H
#define MPIRMA_WINDOW_H

#include "rma.h"

#include "../internal/kernel/update.h"
#include "../internal/transport/fast.h"

enum { RMA_OK = 0 }; // MPI_SUCCESS of all ABIs

// What this process is in the job, written by Go when the library starts.
struct rma_job {
	_Atomic int running; // 1: the library carries windows
	int me;              // rank of the job
	bool fast;           // what can be done here does not enter Go (ARMCI_FASTPATH)
	bool vm;             // the kernel may be asked for private memory of others (ARMCI_SHM_VM)
	// a device writes events of other nodes, which wakes no waiter (core.EventWords)
	bool words;
	// of Go (core.Traffic), by rank, and one more for all; NULL unless `fast`
	struct traffic *traffic;
	int ranks;               // of the job
	void *reserve;           // of Go, for plan_bytes(ranks) bytes (plan.h)
	struct k_stripes stripes;
	uintptr_t arena;      // where the node's arena was; 0 while the library runs
	uint64_t arena_bytes;
};
extern struct rma_job job;
// starts the library, if MPI is running and its MPI_Init has not been seen: comm has all ranks
void rma_start(handle comm);

bool rma_register(struct rma_win *w); // false: no memory
void rma_unregister(struct rma_win *w);
void rma_forget_windows(void); // the library ends: no handle is one of its windows any more

/* operations that are Go's --------------------------------------------------------------------- */

enum rma_kind { RMA_PUT, RMA_GET, RMA_UPDATE, RMA_CAS };

struct rma_side {
	uintptr_t addr;
	int64_t count;
	const struct rma_type *type;
};

struct rma_call {
	int kind, proc;          // proc: rank of the job
	int op, element;         // of an update; enum k_update_op, k_update_type
	bool trusted;            // the memory is known to be in the window, and in one region
	bool explicit_wait;      // a request: number says what to wait for
	bool fetches;
	struct rma_side local, remote, result;
	// of RMA_CAS, whose new value is at local and whose old value goes to result
	const void *compare;
	int32_t number;          // out
	char text[200];          // out: what is wrong
};

// Results of the functions that Go exports.
enum { GO_OK, GO_RANGE, GO_MEMORY, GO_OTHER };

/* access (access.c) ---------------------------------------------------------------------------- */

// One side of an operation at a target, checked.
struct rma_access {
	struct rma_win *w;
	struct rma_target *t;
	const struct rma_type *origin, *there;
	int64_t origin_count, there_count;
	uintptr_t addr;  // in the target
	bool direct;     // I may load and store there
	bool nothing;    // there is nothing to do: no elements, or MPI_PROC_NULL
	bool trusted;    // one region of the target is known to hold all of it
};

// Arguments of an operation as the program gave them.
struct rma_args {
	const char *function;
	const void *origin;
	count_t origin_count;
	handle origin_type;
	int target;
	aint disp;
	count_t there_count;
	handle there_type;
};

// Checks an operation and finds its memory. Not RMA_OK: the error has been raised, and this is the
// code to return.
int rma_reach(struct rma_access *a, struct rma_win *w, const struct rma_args *g);

// Takes the lock of a target under MPI_Win_lock_all, if it was put off until the first access.
// False: an error has been raised.
bool rma_lock_late(struct rma_win *w, int target);

// Has w an access epoch for a target? Takes locks that MPI_Win_lock_all has put off.
bool rma_epoch(struct rma_win *w, int target);

// Go has been given an operation at a target: after it was posted, so that no flush of another
// thread counts it too early.
static inline void rma_note(struct rma_win *w, int target)
{
	atomic_fetch_add_explicit(&w->posted[target], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->all_posted, 1, memory_order_release);
}
// The same for a put of the fast path.
static inline void rma_note_swift(struct rma_win *w, int target)
{
	atomic_store_explicit(&w->swift[target], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->all_posted, 1, memory_order_release);
}
static inline bool rma_outstanding(struct rma_win *w, int target)
{
	return atomic_load_explicit(&w->posted[target], memory_order_relaxed) !=
	       atomic_load_explicit(&w->flushed[target], memory_order_relaxed);
}

// The fast path to other nodes, NULL if there is none.
static inline const struct fast_path *rma_fast(void)
{
	return job.traffic ? atomic_load_explicit(&fast_path, memory_order_acquire) : NULL;
}

// A put of at most FAST_BYTES: locally complete when the fast path returns.
static inline struct fast_transfer rma_short_transfer(int world, const void *origin,
	uintptr_t addr, size_t n)
{
	return (struct fast_transfer){.rank = world, .local = (void *)(uintptr_t)origin,
		.remote = addr, .bytes = n, .blocking = true,
		.at = &job.traffic[world], .all = &job.traffic[job.ranks]};
}

// Raises the error of a call of Go.
int rma_go_error(struct rma_win *w, const char *function, int result, const char *text);

// The assertion of a synchronising call: known bits only.
int rma_assertion(struct rma_win *w, const char *function, int assertion);

/* locks (lock.c) ------------------------------------------------------------------------------- */

// Takes the lock of a target, and gives it back: afterwards all my operations there are complete.
int rma_take(struct rma_win *w, int target, bool exclusive, const char *function);
int rma_give(struct rma_win *w, int target, bool exclusive, const char *function);

/* waiting (event.c) ---------------------------------------------------------------------------- */

// Raises an event in a member's block, behind my operations there. mine is the same word of my own
// block.
int rma_raise(struct rma_win *w, const char *function, int member, struct rma_word *there,
	struct rma_word *mine);
// Waits until a member has raised an event of mine so often (modulo 2^32). there is the same word
// of its block.
int rma_await(struct rma_win *w, const char *function, int member, struct rma_word *mine,
	struct rma_word *there, uint32_t want);
// A barrier of the members, by events. Not RMA_OK: an error has been raised.
int rma_meet(struct rma_win *w, const char *function);
// The same at the end of a window: when it returns no member reads this one's block any more, and
// it may be freed.
int rma_meet_last(struct rma_win *w, const char *function);
// The calling thread is going to wait in a call of the program: meanwhile its MPI goes on with what
// else it has to do.
void rma_may_wait(void);

/* completion (flush.c) ------------------------------------------------------------------------- */

int rma_flush(struct rma_win *w, const char *function, int target);
int rma_flush_all(struct rma_win *w, const char *function);

#endif
