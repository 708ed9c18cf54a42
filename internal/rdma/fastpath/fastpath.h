// SPDX-License-Identifier: BSD-3-Clause
// fastpath.h - the C fast path of RDMA (transport/fast.h): C posts puts and gets on the queue
// pairs that Go has connected, of any network (qp.h), and polls for their completion, since Go's
// part of a transfer takes longer than the network's. There is one fast path in a process. It is
// used only while Go does not use the queues. Completions of Go's requests are put aside for Go. An
// error, a wait that takes long: that is left to Go.
//
// fastpath.c has the queues, fences, and contiguous transfers; rows.c has strided and vector ones;
// memory.c has the memory that C reaches; words.c, acc.c and send.c have read-modify-writes,
// accumulates and two-sided messages, which ask a data server (questions.c); requests.c has what is
// outstanding.
#ifndef ARMCI_RDMA_FASTPATH_H
#define ARMCI_RDMA_FASTPATH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../pin/watch.h"
#include "../../transport/fast.h"
#include "../../transport/server.h"
#include "../qp/qp.h"
#include "../verbs/verbs.h"

#define RDMA_FAST_DEPTH  QP_REQUESTS // that may be outstanding, at most
#define RDMA_FAST_RANGES 64u // ranges of remote memory that are cached
#define RDMA_FAST_WAYS   2u  // of them in a place that addresses share
#define RDMA_FAST_LOCALS 32u // ranges of local memory that are cached, of either kind
#define RDMA_FAST_PIECES 16u // work requests of a transfer
#define RDMA_FAST_STASH  32u // completions that are put aside before Go has to look
#define RDMA_FAST_BURST  8u  // completions that are polled at a time
#define RDMA_FAST_CHAIN  32u // work requests that are posted together
#define RDMA_FAST_BUFFERS 16u // slots that have a buffer, at most
#define RDMA_FAST_PEERS 64u // ranks whose queue pairs are cached
#define RDMA_FAST_RECEIVED ((uint64_t)1 << 63) // in the id of a receive buffer
#define RDMA_FAST_ID     ((uint64_t)1 << 62) // in the id of C's work requests; no other has it

// Memory of a rank and the key and queue pair that reach it. rank is -1 in an empty entry.
struct rdma_fast_range {
	int rank;
	uint64_t rkey;
	uintptr_t base; // what the network subtracts from addresses
	uintptr_t lo, bytes;
	uintptr_t whole_lo, whole_hi; // the allocation that it belongs to
	void *pair;
	struct fast_server *server; // of the rank's node
};

// Registered memory of this process. bytes is 0 in an empty entry. watched: it is registered until
// it is unmapped, or its place is needed (package pin), and then until it has no users.
struct rdma_fast_local {
	uintptr_t lo, bytes;
	uint32_t lkey;
	bool watched;
	_Atomic uint32_t users; // work requests outstanding, of watched memory
};

// The latest stores at a rank, or at all ranks, as far as they were all posted here: numbers lo to
// hi of its counter.
struct rdma_fast_run {
	int rank;
	uint32_t lo, hi;
};

// A work request that is outstanding; pair is NULL in a free one. Where the local memory is not
// registered, the data of a get arrives in the slot's buffer and is copied from there: to copy_to,
// or, where that is 0, to rows. The last request of a chain completes for those before it, and
// frees their slots.
struct rdma_fast_slot {
	uint64_t id;    // its number in the lower bits, and how often the slot was used
	uint64_t chain; // a bit for each slot that it frees besides its own
	void *pair;
	struct rdma_fast_local *from; // watched memory that it uses, or NULL
	uintptr_t copy_to;
	uint32_t copy_bytes;
	int rank;
	int8_t request; // its place, NO_REQUEST: nothing waits for it
	bool store;
};

// The rows to which data is copied from a slot's buffer.
struct rdma_fast_scatter {
	struct k_cursor to;
	const uintptr_t *list;
};

// An open request. Its number changes to 0 when it is complete without an error.
struct rdma_fast_request {
	_Atomic int32_t number;
	_Atomic uint32_t left; // work requests outstanding
	bool abandoned;      // no caller knows of it: a failure is not told
	// 1: a part has failed, others may be outstanding; then Go tells the caller. (A word, since
	// some architectures exchange bytes only by a library.)
	_Atomic int32_t failed;
	int rank;     // the first at which a work request has failed
	int32_t used; // how often the place was
};

// The queue pair to a rank's data server. rank is -1 in an empty entry.
struct rdma_fast_peer {
	int rank;
	uint32_t most; // bytes of a message
	void *pair;
};

// An allocation of a rank, to which it may be asked to accumulate. rank is -1 in an empty entry.
struct rdma_fast_span {
	int rank;
	uintptr_t lo, hi;
};

// A question that has been asked under the request of its place; pair is NULL if there is none.
struct rdma_fast_asked {
	void *pair;
	struct fast_change *change; // its caller's; NULL: no caller waits
	bool stores;
	int rank;
};

// What a way costs: to begin with, for each work request, and for each byte, in nanoseconds.
struct rdma_fast_line {
	double start, each, byte;
};

// The ways of rows: by requests of the device, by messages, by requests of the target's device; how
// much more the last two take if the target's server sleeps. known: they were measured.
struct rdma_fast_costs {
	bool known;
	struct rdma_fast_line device, messages, target_side;
	double wake;
	// How many times as long the device's requests take where rows lie far apart, as the last
	// ones did: neither its nor the processor's caches help then. 0: as 1.
	double apart;
};

struct rdma_fast {
	_Atomic uint32_t held;    // C uses the queues
	_Atomic uint32_t busy;    // number of Go's users of the queues, waiting ones included
	_Atomic uint32_t stores;  // work requests outstanding that store
	_Atomic uint32_t unwaited; // questions for which no caller waits, not answered
	_Atomic uint32_t asked_stores; // of these, that store
	// By place of a peer: it does not keep up. Its messages are Go's, which bounds them, until
	// those that were sent have been delivered.
	_Atomic bool behind[RDMA_FAST_PEERS];
	_Atomic uint32_t implicit_gets; // that get without a handle
	_Atomic uint32_t ended; // raised when a request is over, or no store is outstanding
	_Atomic uint32_t stashed; // completions in stash, for Go
	_Atomic uint32_t look;    // Go has to look at them before C goes on: an error, or no room
	struct vb_wc stash[RDMA_FAST_STASH];
	// Of the thread that has the queues: C's, or Go's poller.
	uint64_t free_slots;  // a bit for each
	unsigned request_hint; // a place that may be free
	uint32_t depth;        // slots that there are
	struct rdma_fast_slot slots[RDMA_FAST_DEPTH];
	struct rdma_fast_request requests[RDMA_FAST_DEPTH];
	struct rdma_fast_asked asked[RDMA_FAST_DEPTH];
	// Changed by Go while C does not use the queues.
	_Atomic uint32_t open;
	const struct qp_network *network;
	void *queue;
	void *channel; // the queue's, if waits sleep instead of polling, else NULL
	void *receive; // the receive queue; NULL: C receives nothing
	struct rdma_fast_local incoming; // its buffers, of incoming_bytes each
	uint32_t incoming_bytes;
	struct rdma_fast_peer peers[RDMA_FAST_PEERS];
	struct rdma_fast_span spans[RDMA_FAST_RANGES];
	struct rdma_fast_local buffers; // buffer_bytes for each of the first slots
	uint32_t buffer_bytes, buffer_count;
	struct rdma_fast_scatter scatters[RDMA_FAST_BUFFERS];
	_Atomic uint32_t longest_inline; // put
	_Atomic uint32_t shortest; // transfer: of a shorter one a thread may see a part
	uint32_t piece;             // bytes of a work request, at most
	uintptr_t arena, arena_bytes; // local memory that Go registers when it is first used
	uint32_t width;             // places of local memory in a work request, at most
	struct rdma_fast_costs put_costs, get_costs;
	struct rdma_fast_range ranges[RDMA_FAST_RANGES];
	struct rdma_fast_local locals[RDMA_FAST_LOCALS]; // that stay registered
	struct rdma_fast_local watched[RDMA_FAST_LOCALS];
	struct rdma_fast_local everywhere; // all memory, where none need be registered; else empty
	struct pin_watch *watch; // NULL: registrations are good for whatever is mapped there
	struct rdma_fast_run runs[RDMA_FAST_RANGES], all;
};
extern struct rdma_fast rdma_fast;

// Of addresses, to their places in ranges and in locals.
enum { RDMA_FAST_RANGE_SHIFT = FAST_SPAN_BITS, RDMA_FAST_LOCAL_SHIFT = 22 };

static inline struct rdma_fast_run *rdma_fast_run_of(int rank)
{
	return &rdma_fast.runs[(unsigned)rank % RDMA_FAST_RANGES];
}

// Where ranges around an address of a rank are: the first of RDMA_FAST_WAYS.
static inline struct rdma_fast_range *rdma_fast_place(int rank, uintptr_t addr)
{
	unsigned at = (unsigned)rank ^ (unsigned)(addr >> RDMA_FAST_RANGE_SHIFT);
	return &rdma_fast.ranges[at * RDMA_FAST_WAYS % RDMA_FAST_RANGES];
}

/* memory (memory.c); the caller has the queues ------------------------------------------------ */
bool rdma_fast_covers(const struct rdma_fast_range *r, uintptr_t remote, uint64_t n);
// Whether the allocation of a range has all of [lo, hi).
static inline bool rdma_fast_whole(const struct rdma_fast_range *r, uintptr_t lo, uintptr_t hi)
{
	return lo >= r->whole_lo && hi <= r->whole_hi && lo < hi;
}
const struct rdma_fast_range *rdma_fast_range_of(int rank, uintptr_t remote, uint64_t n);
// Whether it is local memory that Go registers when it is first used.
static inline bool rdma_fast_in_arena(uintptr_t local)
{
	return local - rdma_fast.arena < rdma_fast.arena_bytes;
}
// Registered memory around local memory; watched memory takes a call of the kernel.
struct rdma_fast_local *rdma_fast_local_of(uintptr_t addr, uint64_t n);
// What one work request moves.
struct rdma_fast_piece {
	struct rdma_fast_local *from; // NULL: inline, or a buffer
	const struct rdma_fast_range *to;
	uint32_t bytes;
};
// Divides a transfer into pieces, each in one registration on either side: how many, at most
// RDMA_FAST_PIECES; 0 if some memory is not known. watched: watched memory may be used.
int rdma_fast_divide(const struct fast_transfer *t, bool watched, struct rdma_fast_piece *pieces);

/* what transfers have in common (fastpath.c) --------------------------------------------------- */
bool rdma_fast_enter(void); // takes the queues, if neither another thread nor Go uses them
void rdma_fast_leave(void);
// Puts a completion aside for Go, which finds it when it next polls.
void rdma_fast_set_aside(const struct vb_wc *done);
// Takes completions until met; false if it takes long, or Go has to look.
bool rdma_fast_until(bool (*met)(int32_t), int32_t what);
bool rdma_fast_await_slots(int32_t n);
bool rdma_fast_await_buffer(void); // a free slot that has one
void rdma_fast_count_store(const struct fast_transfer *t);
// The result of a call that has posted everything: a blocking one waits for its request.
enum fast_result rdma_fast_finish(struct fast_transfer *t, int request);

enum fast_result rdma_fast_put_rows(struct fast_transfer *t, struct fast_rows *r);
enum fast_result rdma_fast_get_rows(struct fast_transfer *t, struct fast_rows *r);
// Makes a transfer of rows by requests of the device, whatever that costs, and waits until it has
// taken effect: how long it took, in nanoseconds; 0: C cannot make it. It is not counted.
uint64_t rdma_fast_time_rows(struct fast_transfer *t, struct fast_rows *r, bool get);
// costs->apart after requests which should have taken the time `usual` took another; and after they
// were not made because of it, so that they are measured again one day.
enum { RDMA_FAST_MOST_APART = 8 };
double rdma_fast_learn_apart(double apart, double usual, double took);
double rdma_fast_forget_apart(double apart);
// Waits a little until all stores have taken effect, and what has no handle is complete.
bool rdma_fast_await_all(void);

// Posts a work request. False: the network has refused it.
bool rdma_fast_post(const struct rdma_fast_piece *p, int slot, int request, int op, int flags,
	struct vb_sge data, uintptr_t remote);
// Waits a little until nothing of a request is outstanding.
bool rdma_fast_await_request(int32_t number);

void rdma_fast_publish(bool open); // makes the table of functions the process's, or takes it back

static inline struct rdma_fast_span *rdma_fast_span_place(int rank, uintptr_t addr)
{
	unsigned at = (unsigned)rank ^ (unsigned)(addr >> RDMA_FAST_RANGE_SHIFT);
	return &rdma_fast.spans[at % RDMA_FAST_RANGES];
}

/* what is outstanding (requests.c); the caller has the queues ---------------------------------- */
enum { RDMA_FAST_NO_REQUEST = -1, RDMA_FAST_IMPLICIT_PLACE = 0 };

void rdma_fast_reset(uint32_t depth); // nothing is outstanding, so many work requests may be
// The place of an open request, or of a new one where number is 0; NO_REQUEST: all are in use.
int rdma_fast_request(int32_t number);
static inline int32_t rdma_fast_number(int request) // of an open one
{
	return atomic_load_explicit(&rdma_fast.requests[request].number, memory_order_relaxed);
}
static inline uint32_t rdma_fast_longest_inline(void)
{
	return atomic_load_explicit(&rdma_fast.longest_inline, memory_order_relaxed);
}
void rdma_fast_begin_store(void);
// ok: it has taken effect; else the next fence is Go's, which knows what has become of it.
void rdma_fast_end_store(int rank, bool ok);
void rdma_fast_abandon(int request); // no caller will wait for it
// Keeps a request open while more is being posted, although what was posted may be complete.
void rdma_fast_hold(int request);
void rdma_fast_let_go(int request);
// Takes a free slot, -1 if there is none; one that has a buffer if `buffer`.
int rdma_fast_slot(bool buffer);
// Takes n of the free slots, of which there are so many: a bit for each; with_buffer: one
// is that of rdma_fast_next_buffer, which rdma_fast_slot(true) would take. The lowest is first.
uint64_t rdma_fast_slots(unsigned n, bool with_buffer);
static inline int rdma_fast_next_buffer(void) { return __builtin_ctzll(rdma_fast.free_slots); }
static inline uintptr_t rdma_fast_buffer(unsigned slot)
{
	return rdma_fast.buffers.lo + slot * rdma_fast.buffer_bytes;
}
// Notes a work request that is about to be posted. Returns its id.
uint64_t rdma_fast_begin(int slot, const struct rdma_fast_range *to, struct rdma_fast_local *from,
	int request, bool store);
// Handles the completion of a work request of C's; `failed` ones fail their request.
void rdma_fast_end(uint64_t id, bool failed);
// Notes that a part of a request has failed, of which other parts are outstanding.
void rdma_fast_note_failure(int request, int rank);
// Fails what is outstanding on a queue pair. Slots are free when completions come, or at the latest
// after rdma_fast_forget: the queue pair is no longer there.
void rdma_fast_fail(const void *pair);
void rdma_fast_forget(const void *pair);
bool rdma_fast_outstanding(const void *pair);

bool rdma_fast_is_open(int32_t number); // any thread
// Whether nothing of a request is outstanding any more: it is complete, or has failed.
static inline bool rdma_fast_over(int32_t number)
{
	struct rdma_fast_request *r = &rdma_fast.requests[(uint32_t)number % RDMA_FAST_DEPTH];
	return atomic_load_explicit(&r->number, memory_order_acquire) != number ||
	       atomic_load_explicit(&r->left, memory_order_acquire) == 0;
}
// Takes the failure of a request that is over, with its rank: false if it has not failed. Any
// thread of Go's, while C does not use the queues.
bool rdma_fast_failure(int32_t number, int *rank);

#endif
