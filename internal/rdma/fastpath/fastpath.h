// SPDX-License-Identifier: BSD-3-Clause
// fastpath.h - the C fast path of RDMA (transport/fast.h). C posts puts and gets on the queue pairs
// that Go has connected, of any network (qp.h), and polls for their completion, since Go's part of
// a transfer takes longer than the network's. There is one fast path in a process. C uses the
// queues only while Go does not. Completions of Go's requests are stashed for Go. An error, or a
// wait that takes long, is left to Go.
//
// fastpath.c has the queues, fences, and contiguous transfers; rows.c has strided and vector ones;
// memory.c has the memory that C reaches; words.c, acc.c and send.c have read-modify-writes,
// accumulates and two-sided messages, which are questions to a data server (questions.c);
// requests.c has what is in flight.
//
// "Holds the queues" means: between rdma_fast_acquire_queues and rdma_fast_release_queues in C, or
// between AcquireQueues and ReleaseQueues in Go.
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

#define RDMA_FAST_DEPTH  QP_REQUESTS // work requests that may be in flight
#define RDMA_FAST_RANGES 64u // ranges of remote memory that are cached
#define RDMA_FAST_WAYS   2u  // of them in a set that addresses share
#define RDMA_FAST_LOCALS 32u // ranges of local memory that are cached, of each kind
#define RDMA_FAST_PIECES 16u // work requests of a transfer
#define RDMA_FAST_STASH  32u // completions that are stashed before Go has to take them
#define RDMA_FAST_BURST  8u  // completions that one poll takes at most
#define RDMA_FAST_CHAIN  32u // work requests that are posted together
#define RDMA_FAST_BUFFERS 16u // slots that have a buffer, at most
#define RDMA_FAST_PEERS 64u // ranks whose queue pairs are cached
#define RDMA_FAST_RECEIVED ((uint64_t)1 << 63) // in the id of a receive buffer
#define RDMA_FAST_ID     ((uint64_t)1 << 62) // in the id of C's work requests; no other has it

// Memory of a rank, and the key and queue pair that reach it. rank is -1 in an empty entry.
struct rdma_fast_range {
	int rank;
	uint64_t rkey;
	uintptr_t base; // what the network subtracts from addresses
	uintptr_t lo, bytes;
	uintptr_t whole_lo, whole_hi; // the allocation that it belongs to
	void *pair;
	struct fast_server *server; // of the rank's node
};

// Registered memory of this process. bytes is 0 in an empty entry. Watched memory is registered
// until it is unmapped, or its entry is needed (package pin), and then until it has no users.
struct rdma_fast_local {
	uintptr_t lo, bytes;
	uint32_t lkey;
	bool watched;
	_Atomic uint32_t users; // work requests in flight, of watched memory
};

// The latest stores at a rank, or at all ranks, that were all posted by C: numbers lo to hi of the
// counter of stores there.
struct rdma_fast_run {
	int rank;
	uint32_t lo, hi;
};

// A work request that is in flight; pair is NULL in a free slot. Where the local memory is not
// registered, the data of a get arrives in the slot's buffer and is copied from there: to copy_to,
// or, where that is 0, to rows. The last request of a chain completes for those before it, and
// frees their slots.
struct rdma_fast_slot {
	uint64_t id;    // the slot's number in the lower bits, and how often it was used
	uint64_t chain; // a bit for each slot that it frees besides its own
	void *pair;
	struct rdma_fast_local *from; // watched memory that it uses, or NULL
	uintptr_t copy_to;
	uint32_t copy_bytes;
	int rank;
	int8_t request; // index of the request it is part of; NO_REQUEST: of none
	bool store;
};

// The rows to which data is copied from a slot's buffer.
struct rdma_fast_scatter {
	struct k_cursor to;
	const uintptr_t *list;
};

// A request: what a caller of the library waits for, one or more work requests. Its number is 0
// while it is free, and again when it is complete without an error.
struct rdma_fast_request {
	_Atomic int32_t number;
	_Atomic uint32_t open_parts; // work requests in flight, questions and holds
	bool abandoned;      // no caller waits for it: a failure is not reported
	// 1: a part has failed, others may be in flight. Go reports that to the caller. (A word,
	// since some architectures exchange bytes only by a library.)
	_Atomic int32_t failed;
	int rank;     // the first at which a work request has failed
	int32_t used; // how often it was used, for its next number
};

// The queue pair to a rank's data server. rank is -1 in an empty entry.
struct rdma_fast_peer {
	int rank;
	uint32_t max_message; // bytes
	void *pair;
};

// An allocation of a rank, to which its data server may be asked to accumulate. rank is -1 in an
// empty entry.
struct rdma_fast_span {
	int rank;
	uintptr_t lo, hi;
};

// A question that is not answered, under the request of the same index; pair is NULL if there is
// none.
struct rdma_fast_open_question {
	void *pair;
	struct fast_change *change; // where the caller wants the result; NULL: no caller waits
	bool stores;
	int rank;
};

// What a protocol costs in nanoseconds: in any case, for each work request, and for each byte.
struct rdma_fast_line {
	double start, each, byte;
};

// The costs of the protocols for rows: by requests of the device, by messages, by requests of the
// target's device; and how much more the last two take if the target's server sleeps (wake). known:
// they were measured.
struct rdma_fast_costs {
	bool known;
	struct rdma_fast_line device, messages, target_side;
	double wake;
	// Factor by which the device's requests take longer where rows lie far apart, learnt from
	// the last ones: neither its nor the processor's caches help then. 0: as 1.
	double apart;
};

struct rdma_fast {
	// Atomic words that any thread of C or Go loads.
	_Atomic uint32_t held_by_c;        // 1: a thread of C holds the queues
	_Atomic uint32_t users_in_go;      // threads of Go that hold the queues, or wait for them
	_Atomic uint32_t stores_in_flight; // work requests and questions that store
	_Atomic uint32_t unanswered;       // questions for which no caller waits
	_Atomic uint32_t unanswered_stores; // those of them that store
	// By entry of a peer: it does not keep up. Go sends its messages, and bounds them, until
	// those that were sent have been delivered.
	_Atomic bool peer_behind[RDMA_FAST_PEERS];
	_Atomic uint32_t implicit_gets; // gets without a handle that are in flight
	_Atomic uint32_t over_count;    // raised when a request is over, or no store is in flight
	_Atomic uint32_t stash_count;   // completions in stash, for Go
	_Atomic uint32_t go_must_poll;  // 1: C waits for Go to take the stash: an error, or no room
	struct vb_wc stash[RDMA_FAST_STASH];

	// Of the thread that holds the queues: a thread of C, or Go's poller.
	uint64_t free_slots;   // a bit for each
	unsigned request_hint; // a request that may be free
	uint32_t depth;        // number of slots
	struct rdma_fast_slot slots[RDMA_FAST_DEPTH];
	struct rdma_fast_request requests[RDMA_FAST_DEPTH];
	struct rdma_fast_open_question open_questions[RDMA_FAST_DEPTH]; // by request

	// Changed by Go while C does not hold the queues.
	_Atomic uint32_t open; // 1: C may use the fast path
	const struct qp_network *network;
	void *queue;
	void *channel; // the queue's, if waits sleep instead of polling, else NULL
	void *receive; // the receive queue; NULL: C receives nothing
	struct rdma_fast_local incoming; // the receive buffers, of incoming_bytes each
	uint32_t incoming_bytes;
	struct rdma_fast_peer peers[RDMA_FAST_PEERS];
	struct rdma_fast_span spans[RDMA_FAST_RANGES];
	struct rdma_fast_local buffers; // buffer_bytes for each of the first slots
	uint32_t buffer_bytes, buffer_count;
	struct rdma_fast_scatter scatters[RDMA_FAST_BUFFERS]; // by slot
	_Atomic uint32_t longest_inline; // bytes of a put that travels in its work request
	_Atomic uint32_t shortest;    // bytes; of a shorter transfer a thread may see a part
	uint32_t piece;               // bytes of a work request, at most
	uintptr_t arena, arena_bytes; // local memory that Go registers when it is first used
	uint32_t width;               // pieces of local memory in a work request, at most
	struct rdma_fast_costs put_costs, get_costs;
	struct rdma_fast_range ranges[RDMA_FAST_RANGES];
	struct rdma_fast_local locals[RDMA_FAST_LOCALS]; // registered until the fast path closes
	struct rdma_fast_local watched[RDMA_FAST_LOCALS];
	struct rdma_fast_local everywhere; // all memory, where none need be registered; else empty
	struct pin_watch *watch; // NULL: a registration is valid for whatever is mapped there
	struct rdma_fast_run runs[RDMA_FAST_RANGES], runs_of_all;
};
extern struct rdma_fast rdma_fast;

// Shifts of addresses, for their indices in ranges and in locals.
enum { RDMA_FAST_RANGE_SHIFT = FAST_SPAN_BITS, RDMA_FAST_LOCAL_SHIFT = 22 };

static inline struct rdma_fast_run *rdma_fast_stores_at(int rank)
{
	return &rdma_fast.runs[(unsigned)rank % RDMA_FAST_RANGES];
}

// The set of ranges around an address of a rank: the first of RDMA_FAST_WAYS.
static inline struct rdma_fast_range *rdma_fast_range_set(int rank, uintptr_t addr)
{
	unsigned at = (unsigned)rank ^ (unsigned)(addr >> RDMA_FAST_RANGE_SHIFT);
	return &rdma_fast.ranges[at * RDMA_FAST_WAYS % RDMA_FAST_RANGES];
}

/* memory (memory.c); the caller holds the queues ----------------------------------------------- */
bool rdma_fast_range_covers(const struct rdma_fast_range *r, uintptr_t remote, uint64_t n);
// Whether [lo, hi) is in the allocation that a range belongs to.
static inline bool rdma_fast_in_allocation(const struct rdma_fast_range *r, uintptr_t lo,
	uintptr_t hi)
{
	return lo >= r->whole_lo && hi <= r->whole_hi && lo < hi;
}
const struct rdma_fast_range *rdma_fast_find_range(int rank, uintptr_t remote, uint64_t n);
// Whether it is local memory that Go registers when it is first used.
static inline bool rdma_fast_in_arena(uintptr_t local)
{
	return local - rdma_fast.arena < rdma_fast.arena_bytes;
}
// Registered memory around local memory; watched memory takes a call of the kernel.
struct rdma_fast_local *rdma_fast_find_local(uintptr_t addr, uint64_t n);
// What one work request moves.
struct rdma_fast_piece {
	struct rdma_fast_local *from; // NULL: inline, or a buffer
	const struct rdma_fast_range *to;
	uint32_t bytes;
};
// Divides a transfer into pieces, each in one registration on either side. Returns how many, at
// most RDMA_FAST_PIECES; 0 if some memory is not known. watched: watched memory may be used.
int rdma_fast_divide_transfer(const struct fast_transfer *t, bool watched,
	struct rdma_fast_piece *pieces);

/* what transfers have in common (fastpath.c) --------------------------------------------------- */
// Acquires the queues; false if another thread or Go holds them, or Go has to poll first. After
// true the caller releases them.
bool rdma_fast_acquire_queues(void);
void rdma_fast_release_queues(void);
// Stashes a completion for Go, which finds it when it next polls.
void rdma_fast_stash_completion(const struct vb_wc *done);
// Takes completions until met(what); false if it takes long, or Go has to poll. The caller holds
// the queues.
bool rdma_fast_progress_until(bool (*met)(int32_t), int32_t what);
bool rdma_fast_await_slots(int32_t n);
bool rdma_fast_await_buffer(void); // a free slot that has one
void rdma_fast_count_store(const struct fast_transfer *t);
// The result of a call that has posted everything: a blocking one waits for its request.
enum fast_result rdma_fast_finish_transfer(struct fast_transfer *t, int request);

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
// Waits a little until all stores have taken effect, and gets without a handle are complete.
bool rdma_fast_await_all(void);

// Posts a work request, in a slot that the caller has taken. False: the network has refused it, and
// the slot is free again.
bool rdma_fast_post_work(const struct rdma_fast_piece *p, int slot, int request, int op, int flags,
	struct vb_sge data, uintptr_t remote);
// Waits a little until nothing of a request is in flight.
bool rdma_fast_await_request(int32_t number);

// Makes the fast path's functions the process's (fast_path), or withdraws them.
void rdma_fast_publish(bool open);

static inline struct rdma_fast_span *rdma_fast_span_entry(int rank, uintptr_t addr)
{
	unsigned at = (unsigned)rank ^ (unsigned)(addr >> RDMA_FAST_RANGE_SHIFT);
	return &rdma_fast.spans[at % RDMA_FAST_RANGES];
}

/* what is in flight (requests.c); the caller holds the queues ---------------------------------- */
enum { RDMA_FAST_NO_REQUEST = -1, RDMA_FAST_IMPLICIT_PLACE = 0 };

// Forgets everything in flight. From then on depth work requests may be.
void rdma_fast_reset(uint32_t depth);
// Returns the index of an open request, or of a new one where number is 0; NO_REQUEST: all are in
// use.
int rdma_fast_open_request(int32_t number);
static inline int32_t rdma_fast_request_number(int request) // of an open one
{
	return atomic_load_explicit(&rdma_fast.requests[request].number, memory_order_relaxed);
}
static inline uint32_t rdma_fast_longest_inline(void)
{
	return atomic_load_explicit(&rdma_fast.longest_inline, memory_order_relaxed);
}
void rdma_fast_begin_store(void);
// Ends a store. ok: it has taken effect; else the next fence is Go's, which knows the error.
void rdma_fast_end_store(int rank, bool ok);
void rdma_fast_abandon_request(int request); // no caller will wait for it
// Keeps a request open while more is being posted, although what was posted may be complete; and
// ends that.
void rdma_fast_hold_request(int request);
void rdma_fast_release_request(int request);
// Takes a free slot, one that has a buffer if `buffer`; -1 if there is none.
int rdma_fast_take_slot(bool buffer);
// Takes n free slots, a bit for each; the caller has waited for so many. with_buffer: one of them
// is rdma_fast_next_buffer_slot, which is the lowest.
uint64_t rdma_fast_take_slots(unsigned n, bool with_buffer);
static inline int rdma_fast_next_buffer_slot(void) { return __builtin_ctzll(rdma_fast.free_slots); }
static inline uintptr_t rdma_fast_slot_buffer(unsigned slot)
{
	return rdma_fast.buffers.lo + slot * rdma_fast.buffer_bytes;
}
// Fills a slot for a work request that is about to be posted. Returns the request's id.
uint64_t rdma_fast_start_work(int slot, const struct rdma_fast_range *to,
	struct rdma_fast_local *from, int request, bool store);
// Handles the completion of a work request of C's. failed: its request fails.
void rdma_fast_complete_work(uint64_t id, bool failed);
// Records that a part of a request has failed, of which other parts are in flight.
void rdma_fast_note_failure(int request, int rank);
// Fails what is in flight on a queue pair. Slots are freed by completions, or at the latest by
// rdma_fast_forget_pair, when the queue pair has been destroyed.
void rdma_fast_fail_pair(const void *pair);
void rdma_fast_forget_pair(const void *pair);
bool rdma_fast_pair_in_use(const void *pair);

bool rdma_fast_request_is_open(int32_t number); // any thread
// Whether nothing of a request is in flight any more: it is complete, or has failed.
static inline bool rdma_fast_request_is_over(int32_t number)
{
	struct rdma_fast_request *r = &rdma_fast.requests[(uint32_t)number % RDMA_FAST_DEPTH];
	return atomic_load_explicit(&r->number, memory_order_acquire) != number ||
	       atomic_load_explicit(&r->open_parts, memory_order_acquire) == 0;
}
// Takes the failure of a request that is over, with its rank; false if it has not failed. Any
// thread of Go's that holds the queues.
bool rdma_fast_take_failure(int32_t number, int *rank);

#endif
