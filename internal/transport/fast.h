// SPDX-License-Identifier: BSD-3-Clause
// fast.h - the C fast path to other nodes: a table of functions that carry out puts and gets,
// blocking and nonblocking, short accumulates, read-modify-writes, short two-sided messages, and
// fences, without entering Go.
// A fabric that has such functions publishes its table while they may be called. The public
// functions (capi) call the published table and name no fabric. A function either carries out the
// whole call, or returns which part Go has to do: it never logs, allocates, or reports an error.
#ifndef ARMCI_FAST_H
#define ARMCI_FAST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../kernel/cursor.h"

#define FAST_BYTES 256u       // puts of up to this many bytes are locally complete at return
#define FAST_MOST (16 << 20)  // most bytes of a transfer
#define FAST_SPAN_BITS 22     // log2 of the bytes that one entry of the key cache covers

// What a function of the table has done.
enum fast_result {
	FAST_DECLINED, // nothing, unless the function's comment says otherwise: Go makes the call
	FAST_DONE,     // the operation is locally complete
	FAST_OPEN,     // it is posted, and its request is open; a blocking call waits for it in Go
};

// A request is a number that a handle holds while transfers under it are open. Go's numbers of
// handles never have these upper two bits.
#define FAST_REQUEST_BITS 30
#define FAST_IMPLICIT ((int32_t)1 << FAST_REQUEST_BITS) // the request of calls without a handle
static inline bool fast_request(int32_t content) { return content >> FAST_REQUEST_BITS == 1; }

// Counts the stores of this process at one rank, or at all ranks together: no store is outstanding
// while both fields are equal. The counters belong to core (core.Traffic has the same layout). A
// fast path also counts gets without a handle, because a fence waits for those, too.
struct traffic {
	_Atomic uint32_t posted; // raised after a store has been posted
	// value of posted up to which the stores are known to have taken effect
	_Atomic uint32_t fenced;
};

// A contiguous put or get.
struct fast_transfer {
	void *local;
	uintptr_t remote;
	uint64_t bytes;
	struct traffic *at, *all; // counters of the rank, and of all ranks
	int rank;
	bool blocking;   // false: local must stay unchanged until the request is complete
	int32_t request; // in: the handle's, 0: a new one; out, if OPEN: the one to wait for
};

// Rows or segments of a transfer. Both sides have the same number of bytes. The cursors stand at
// their beginnings (kernel/cursor.h); the bounds enclose all addresses of a side. pieces is an
// upper bound for the number of pieces that are contiguous on both sides.
struct fast_rows {
	struct k_cursor local, remote;
	const uintptr_t *local_list, *remote_list;
	uintptr_t local_lo, local_hi, remote_lo, remote_hi;
	int64_t pieces, longest; // longest: bytes of the longest piece
	bool is_gos;             // out: Go has to make the transfer
};

// Operations of a fast_change on a mutex. Those on a word are K_WORD_ADD to K_WORD_CAS
// (kernel/atomic.h). LOCK is declined unless the mutex is free. UNLOCK is a store: the caller does
// not wait for it.
enum { FAST_LOCK = 7, FAST_UNLOCK = 8 };

// A read-modify-write of a word of 4 or 8 bytes of a rank's memory, aligned to its size. For words
// of 4 bytes the upper halves of the values are ignored. Of a mutex, operand is the owner.
struct fast_change {
	int rank;
	uint8_t op;
	uint8_t bytes;
	uintptr_t word;
	uint64_t operand, compare;
	uint64_t old;    // out: the value before the operation
	struct traffic *at, *all; // counters of the rank, and of all ranks; used by UNLOCK
	bool declined;   // out, if DONE: the server has left the word unchanged; Go has to ask
	int32_t request; // out, if OPEN: the one to wait for; old and declined are valid after it
};

// An accumulate of whole elements, of one shape at the rank. The origin's data is at the cursor
// from; the target gets it packed, at data.
struct fast_acc {
	int rank, type; // type: enum k_type
	const void *scale; // one element
	uintptr_t to;
	const int *stride, *count; // as in a strided call
	int levels;
	uint64_t bytes;
	struct k_cursor from; // origin only
	const void *data;     // target only
	struct traffic *at, *all; // counters of the rank, and of all ranks
};

// A two-sided message between nodes.
struct fast_send {
	int rank, from; // receiver; sender, set at the target only
	int64_t tag;
	const void *data;
	uint64_t bytes;
};

// The functions of a fabric. Any thread of the application may call them. A function that is said
// to be NULL-able is missing in fabrics that leave such calls to Go.
struct fast_path {
	enum fast_result (*put)(struct fast_transfer *t);
	// Like put, but ordered behind all stores at the rank that no fence has covered yet.
	// Declines unless this table has made all of those.
	enum fast_result (*put_after)(struct fast_transfer *t);
	enum fast_result (*get)(struct fast_transfer *t);
	// The same for rows; local and remote of the transfer are not used. If the result is OPEN
	// and the cursors have bytes left, the queue is full until the request is complete: wait
	// for it and call again with the same rows. If that call declines, or is_gos is set, Go
	// makes the whole transfer once the request is complete.
	enum fast_result (*put_rows)(struct fast_transfer *t, struct fast_rows *r);
	enum fast_result (*get_rows)(struct fast_transfer *t, struct fast_rows *r);
	// A blocking read-modify-write, ordered behind everything posted to the rank before.
	// NULL-able.
	enum fast_result (*change)(struct fast_change *c);
	// A store at the rank. Returns DONE or DECLINED. NULL-able.
	enum fast_result (*accumulate)(struct fast_acc *a);
	// Ordered behind everything posted to the rank before. Returns DONE or DECLINED. NULL-able.
	enum fast_result (*send)(const struct fast_send *s);
	// Whether the key of these n bytes is cached, so that put would not decline for lack of it.
	bool (*reaches)(int rank, uintptr_t remote, uint64_t n);
	// Whether transfers under the request are open.
	bool (*is_open)(int32_t request);
	// Spins for a short time until the request is complete. OPEN: the caller waits in Go.
	enum fast_result (*wait)(int32_t request);
	// Polls once for the request. DECLINED: the caller tests it in Go.
	enum fast_result (*test)(int32_t request);
	// True if all stores at the rank, or at all ranks, have taken effect; fenced is then equal
	// to posted. False: the caller fences in Go.
	bool (*fence)(int rank, struct traffic *at);
	bool (*fence_all)(struct traffic *all);
};

// The table in use, NULL while there is none. A fabric sets it, capi reads it. Functions of a table
// that has just been cleared may still be called: they decline.
extern const struct fast_path *_Atomic fast_path;

// Carry out a request of another node in memory of a rank of this one, for its data server. False:
// the memory is unchanged, and Go handles the request. NULL while the library is not initialised.
// capi sets them, fabrics call them.
extern bool (*_Atomic fast_serve)(struct fast_change *c);
extern bool (*_Atomic fast_serve_acc)(const struct fast_acc *a);
extern bool (*_Atomic fast_serve_send)(const struct fast_send *s);

// A message that the origin stores into a ring in memory of another node: a head of FAST_HEAD
// bytes, the data behind it, and then a counter elsewhere, which tells the receiver that both are
// there.
#define FAST_HEAD 16u
// The parts of a message that have been posted: always a prefix of head, data, counter.
enum fast_parts { FAST_NO_PART, FAST_HEAD_ONLY, FAST_HEAD_AND_DATA, FAST_WHOLE };

// Posts a message: `total` in the head at `to`, n bytes of data behind it, then `count` in the
// counter at `word`. Returns the parts posted; the caller posts the others, in order. *request is
// in and out. In: the request of earlier messages, 0: none. Out: the request under which the data
// is open, if any. While it is not 0, data must stay unchanged until fast_wait(*request) returns
// true; if that returns false, until Go has waited for the request.
enum fast_parts fast_message(int rank, struct traffic *at, struct traffic *all, uintptr_t to,
	uint64_t total, void *data, uint64_t n, uintptr_t word, uint32_t count, int32_t *request);
// Stores `count` in the word, behind everything that this table has stored at the rank before.
// False: nothing is stored, and the caller stores it by Go.
bool fast_word(int rank, struct traffic *at, struct traffic *all, uintptr_t word, uint32_t count);
// Spins for a short time until the request is complete. False: the caller waits in Go.
bool fast_wait(int32_t request);

// Whether transfers are open under the handle with this content.
static inline bool fast_request_open(int32_t content)
{
	if (__builtin_expect(!fast_request(content), 1))
		return false;
	const struct fast_path *f = atomic_load_explicit(&fast_path, memory_order_acquire);
	return f && f->is_open(content);
}

#endif
