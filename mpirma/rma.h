// SPDX-License-Identifier: BSD-3-Clause
// Shared by the C files of libarmci-mpirma.so: a window as this library knows it, what is known of
// the MPI in the process (constants, its own functions, datatypes), and how errors are raised. One
// binary serves all ABIs: handles are pointers in Open MPI and in MPI 5's standard ABI, and ints in
// MPICH, so they are uintptr_t here. It must not include mpi.h.
#ifndef MPIRMA_RMA_H
#define MPIRMA_RMA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../internal/bootstrap/mpi_flavour.h"
#include "../internal/kernel/kernel.h"
#include "../internal/shm/shm.h"

#define PUBLIC __attribute__((visibility("default")))
// The MPI_ name of a PMPI_ function, open to interposition by profilers.
#define RMA_ALIAS(name) \
	extern __typeof__(PMPI_##name) MPI_##name \
		__attribute__((weak, alias("PMPI_" #name), visibility("default")));
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

typedef intptr_t aint;    // MPI_Aint of all ABIs
typedef int64_t  count_t; // MPI_Count of all ABIs

// A handle of the program's MPI: a pointer, or an int in the low 32 bits. An int argument in a
// 64-bit register or stack slot has undefined upper bits: every handle that comes from a program
// goes through rma_handle. 0 is no handle of any ABI.
typedef uintptr_t handle;

/* the program's MPI (abi.c) -------------------------------------------------------------------- */

enum rma_flavor { FLAVOR_CREATE, FLAVOR_ALLOCATE, FLAVOR_DYNAMIC, FLAVOR_SHARED };

// Constants that differ between the ABIs. Filled by abi_open.
struct abi {
	enum boot_mpi_flavour flavour;
	bool pointers; // handles are pointers. Else ints: the MPICH family
	int proc_null, undefined, root;
	int lock_exclusive, lock_shared;
	int mode_nocheck, mode_nostore, mode_noput, mode_noprecede, mode_nosucceed;
	int err_arg, err_count, err_type, err_rank, err_disp, err_op, err_win, err_size, err_base,
		err_locktype, err_assert, err_rma_conflict, err_rma_sync, err_rma_range,
		err_rma_attach, err_rma_shared, err_rma_flavor, err_other, err_intern, err_group,
		err_comm, err_info, err_no_mem, err_request, err_info_nokey;
	int win_base, win_size, win_disp_unit, win_create_flavor, win_model; // predefined keyvals
	int keyval_invalid;
	// MPI_WIN_FLAVOR_*, by enum rma_flavor
	int flavor[4];
	int model_unified;
	int thread_multiple, comm_type_shared;
	int comm_identical, comm_congruent; // not used by handles: results of MPI_Comm_compare
	int max_info_key, max_info_val, max_object_name; // bytes, with the 0 at the end
	// of datatypes
	int order_c, distribute_none, distribute_block, distribute_default;
	handle win_null, comm_null, comm_world, comm_self, info_null, datatype_null, request_null,
		group_null, group_empty, op_null, op_replace, op_no_op, op_sum, op_max, op_min,
		byte, int_type, int64_type, errors_are_fatal, errors_return,
		errors_abort; // 0: the MPI has no such handler
};
extern struct abi abi;

// True if the MPI in the process can be used; called first by every public function that may come
// before MPI_Init.
bool abi_open(void);
// What the MPI that cannot be used says of itself, one line; "": there is none, or it lacks
// functions.
const char *abi_unknown(void);

static inline handle rma_handle(handle h) { return abi.pointers ? h : (uint32_t)h; }
// Writes a handle to where the program's MPI keeps one: 8 bytes, or 4.
static inline void rma_set_handle(void *where, handle h)
{
	if (abi.pointers)
		*(uintptr_t *)where = h;
	else
		*(uint32_t *)where = (uint32_t)h;
}
static inline handle rma_get_handle(const void *where)
{
	return abi.pointers ? *(const uintptr_t *)where : *(const uint32_t *)where;
}

// The MPI's own functions, found behind this library (dlsym RTLD_NEXT of PMPI_ names). real.h lists
// them with their types; handles are uintptr_t. An output handle is written into a uintptr_t that
// was 0 before. Optional ones are NULL where the MPI does not have them.
#include "real.h"

/* datatypes and operators (datatype.c, predefined.c) ------------------------------------------- */

// A datatype, flattened once. Lives as long as the type's handle (and, for predefined ones, the
// process).
//
// Pairs with padding (MPI_DOUBLE_INT: 12 bytes of data in 16) are moved whole: in `runs` each is
// its memory, which makes arrays of them dense and lets the kernel update them. `size` stays MPI's,
// because type signatures are matched by it. `exact` has the runs without padding: to be used where
// the other side of a transfer is not of pairs, so that `bytes` of both sides agree.
struct rma_type {
	int64_t size;             // MPI's: bytes of data in one element of the type
	int64_t bytes;            // of its runs together: size, and the padding of pairs
	int64_t lb, extent;       // as MPI says: element i begins at i * extent
	int64_t true_lb, true_ub; // first byte of its runs, and their end
	// enum k_update_type if all data is of one predefined type, else -1
	int element;
	int element_bytes;        // of that in memory
	bool dense;               // n of them are n * bytes in a row, from offset 0
	int64_t nruns;
	struct k_span *runs;      // in the order of the type map; neighbours merged
	const struct rma_type *exact; // NULL: there is no padding, the type is exact itself
	_Atomic uintptr_t shape;  // of Go (window.Shape), 0 until it is needed
};
// The flattened form of a valid, committed datatype; NULL if the handle is MPI_DATATYPE_NULL or is
// no type.
const struct rma_type *rma_type(handle type);
// Go gives back a shape whose datatype is gone. Weak: there may be none.
void mpirmago_release_shape(uintptr_t shape) __attribute__((weak));
// enum k_update_op of a predefined operator; -1: none that one-sided communication allows.
int rma_op(handle op);

/* windows (window.c) --------------------------------------------------------------------------- */

// A member of a window, as all others see it. Written when the window is made.
struct rma_target {
	uint64_t addr;           // of its memory, as its own process knows it
	uint64_t size;           // bytes; dynamic windows: all addresses
	int64_t unit;            // displacement unit
	struct win_block *block; // its control block, in its node's arena
	uint64_t word;           // by which devices take its lock; 0: none do
	uint8_t way;             // how I hold its lock (core.LockWay)
	int32_t world;           // rank of the job
	bool here;               // of my node: I can use its control block
	// its memory is at addr in my process, too: my own, or in my node's arena
	bool mapped;
	bool direct;             // mapped, and operations there need not enter Go
	// private memory of another process of my node, which the kernel copies for me
	bool by_kernel;
	int32_t local;           // number of the rank on my node
	_Atomic bool loaded;     // MPI_Win_shared_query has given its address away
	// devices of this process may access it, with this key: memory of MPI_Win_create on another
	// node
	bool lent;
	uint64_t key;
};

// An event that one other member raises, and this member's record of the one that it raises in the
// same place of another member's block (core.EventRaise).
struct rma_word {
	struct shm_event event, record;
};

struct rma_pair {
	struct rma_word posts;       // raised when that member has posted an epoch for this one
	struct rma_word completions; // raised when it has completed an epoch at this one
};

// What others change of a member's window: locks, and counters of synchronisation. In arena memory.
struct win_block {
	struct shm_rwlock lock;     // of MPI_Win_lock
	struct rma_word meet[32];   // of barriers: raised by the member 2^k before this one
	struct rma_pair pair[];     // by member
};

// how I have locked a target; ALL: by MPI_Win_lock_all
enum { LOCK_NONE, LOCK_SHARED, LOCK_EXCLUSIVE, LOCK_NOCHECK, LOCK_ALL };

// OPEN: a fence has begun an epoch; USED: and there were operations in it
enum { FENCE_NONE, FENCE_OPEN, FENCE_USED };

struct rma_win {
	handle win;   // the program's: a real window of its MPI, of this process alone (handle.c)
	handle group; // of the communicator
	int n, me;    // members, my rank
	enum rma_flavor flavor;
	struct rma_target *target; // by member
	struct win_block *block;   // mine
	uintptr_t memory;          // arena memory that goes with the window; 0: none
	bool exposed_memory;       // private memory, which others reach by the kernel
	// it is lent to devices of other nodes; some member may know its key
	bool lent, key_known;
	uint64_t key;

	void *base; // what the attributes tell
	aint size;
	int unit;

	pthread_mutex_t locking;  // held for changes of lock[], locks, locked_all
	_Atomic uint8_t *lock;    // by member: LOCK_*
	int locks;                // members that are locked by MPI_Win_lock
	_Atomic int locked_all;   // LOCK_NONE, LOCK_ALL or LOCK_NOCHECK
	_Atomic int fence;        // FENCE_*
	_Atomic int started;      // an access epoch of MPI_Win_start is open
	uint8_t *access;          // by member: it is in that epoch
	int *targets;             // the members in it
	int started_n;
	struct attached *attached; // memory of a dynamic window (dynamic.c)
	uint32_t *seen;           // by member: posts of it that have been used
	_Atomic int exposing;     // an exposure epoch of MPI_Win_post is open
	uint32_t meetings;        // barriers so far
	int *origins;             // the members for which it is open
	int origins_n;
	uint32_t *expected;       // by member: completions there will have been at its end
	_Atomic uint32_t *posted; // by member: operations that Go has been given
	_Atomic uint32_t *flushed; // by member: so many of them are complete
	// by member: so many of them need this member no more: gets have their data
	_Atomic uint32_t *local;
	// by member: 1 if the fast path has put there since the last flush
	_Atomic uint8_t *swift;
	_Atomic uint32_t all_posted, all_flushed; // the same for all members together
};

// The window of a handle, for an operation; NULL: not one of ours (then it is the MPI's, and the
// call passes through), or hidden, since operations are recorded (record.c) and this one not yet.
struct rma_win *rma_find(handle win);
struct rma_win *rma_known(handle win); // for everything else: hidden ones, too
void rma_hide_windows(bool hide);
extern _Thread_local bool rma_recorded __attribute__((
	tls_model("initial-exec"))); // the operation of this thread is being recorded
// A predefined attribute as C has it: the base, or the address of what it is. False: it is none of
// these (query.c).
bool rma_attribute(struct rma_win *w, int keyval, void **value);

// Makes a window of the program's MPI that serves as a handle (handle.c), of this process alone and
// of no memory. Returns an error of the MPI; its error handlers are not called.
int rma_real_window(handle info, handle *win);
bool rma_committed(handle type); // may a datatype be communicated?

/* errors (error.c) ----------------------------------------------------------------------------- */

// Raises an error of a class (abi.err_*) through the window's error handler, as MPI does, and
// returns the code to be returned. Where the handler ends the job a line is printed first:
// function, what is wrong (format names the argument), rank. w NULL: the handler of MPI_COMM_WORLD.
int rma_error(struct rma_win *w, const char *function, int error_class, const char *format, ...)
	__attribute__((format(printf, 4, 5), cold));

// The same by the error handler of a communicator.
int rma_comm_error(handle comm, const char *function, int error_class, const char *format, ...)
	__attribute__((format(printf, 4, 5), cold));

/* requests (request.c) ------------------------------------------------------------------------- */

// Makes a request of the program's MPI for an operation of Go's table; number 0 (done): it is
// complete at once. MPI's own MPI_Wait, MPI_Test and all others complete it. `request` is where the
// program wants the handle.
int rma_request(struct rma_win *w, const char *function, int32_t number, void *request);

#endif
