// SPDX-License-Identifier: BSD-3-Clause
// fast.h - the C fast path to other nodes: a table of functions that carry out puts and gets,
// blocking and nonblocking, short accumulates, read-modify-writes, short two-sided messages, and
// fences, without entering Go.
// A fabric that has such functions publishes its table while they may be called; the public
// functions (capi) call whatever table is there and name no fabric. A function either does the
// whole job, or leaves a rest to Go: it never logs, allocates, or reports an error.
#ifndef ARMCI_FAST_H
#define ARMCI_FAST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../kernel/cursor.h"

#define FAST_BYTES 256u       // puts of so many bytes are locally complete when put returns
#define FAST_MOST (16 << 20)  // bytes of the longest transfer
#define FAST_SPAN_BITS 22     // of addresses: memory that a fast path finds by one of them

// DECLINED: nothing has happened, but for what was said otherwise. DONE: locally complete. OPEN: it
// has been posted, and its request is open; a blocking call waits for that in Go.
enum fast_result { FAST_DECLINED, FAST_DONE, FAST_OPEN };

// A request is a number that a handle holds while transfers under it are open. Go's numbers of
// handles never have these upper two bits.
#define FAST_REQUEST_BITS 30
#define FAST_IMPLICIT ((int32_t)1 << FAST_REQUEST_BITS) // the request of calls without a handle
static inline bool fast_request(int32_t content) { return content >> FAST_REQUEST_BITS == 1; }

// Counts the stores of this process at one rank, or at all ranks together: no store is outstanding
// while both are equal. The counters belong to core (core.Traffic, which has the same layout); a
// fast path counts its puts in them, and gets without a handle, for which a fence waits, too.
struct traffic {
	_Atomic uint32_t posted; // raised after a store has been posted
	// value of posted up to which the stores are known to have taken effect
	_Atomic uint32_t fenced;
};

struct fast_transfer {
	void *local;
	uintptr_t remote;
	uint64_t bytes;
	struct traffic *at, *all; // at the rank, at all ranks
	int rank;
	bool blocking;   // else local belongs to the transfer until its request is complete
	int32_t request; // in: the handle's, 0: a new one; out, if OPEN: the one to wait for
};

// Rows or segments, the same bytes on both sides: where the sides begin (kernel/cursor.h), between
// which addresses they lie, and how many pieces there are at most that are contiguous on both.
struct fast_rows {
	struct k_cursor local, remote;
	const uintptr_t *local_list, *remote_list;
	uintptr_t local_lo, local_hi, remote_lo, remote_hi;
	int64_t pieces, longest; // bytes of the longest
	bool is_gos;             // out: Go has to make the transfer
};

// What can be done to a mutex besides K_WORD_ADD to K_WORD_CAS (kernel/atomic.h) to a word. LOCK is
// declined where the mutex is not free; UNLOCK is a store, for which no caller waits.
enum { FAST_LOCK = 7, FAST_UNLOCK = 8 };

// A read-modify-write of a word of 4 or 8 bytes, aligned to them, of a rank's memory. Bytes beyond
// the word's are of no account. operand is the owner, where the word is a mutex.
struct fast_change {
	int rank;
	uint8_t op;
	uint8_t bytes;
	uintptr_t word;
	uint64_t operand, compare;
	uint64_t old;    // out
	struct traffic *at, *all; // of an UNLOCK
	bool declined;   // out, if DONE: the rank's server has left the word as it is, for Go
	int32_t request; // out, if OPEN: the one to wait for; only then is the rest complete
};

// An accumulate of whole elements, of one shape at the rank. At the origin, from is where its data
// is; at the target, data is that data, packed.
struct fast_acc {
	int rank, type; // enum k_type
	const void *scale; // one element
	uintptr_t to;
	const int *stride, *count; // as in a strided call
	int levels;
	uint64_t bytes;
	struct k_cursor from;
	const void *data;
	struct traffic *at, *all;
};

// A two-sided message between nodes. At the target, from is its sender.
struct fast_send {
	int rank, from;
	int64_t tag;
	const void *data;
	uint64_t bytes;
};

struct fast_path {
	enum fast_result (*put)(struct fast_transfer *t);
	// put, for what must not be there before the stores at the rank that no fence has covered:
	// declined unless those were all made by this table.
	enum fast_result (*put_after)(struct fast_transfer *t);
	enum fast_result (*get)(struct fast_transfer *t);
	// The same for rows; local and remote of the transfer are not used. OPEN with some bytes
	// left in both cursors: there is no room for the rest before the request is complete. Then
	// call again, with the same rows; if that declines, Go makes the whole transfer, as where
	// is_gos is set, when the request is complete.
	enum fast_result (*put_rows)(struct fast_transfer *t, struct fast_rows *r);
	enum fast_result (*get_rows)(struct fast_transfer *t, struct fast_rows *r);
	// NULL: changes are Go's. Blocking, and behind everything posted to the rank before.
	enum fast_result (*change)(struct fast_change *c);
	// A store at the rank. DONE or DECLINED. NULL: accumulates are Go's.
	enum fast_result (*accumulate)(struct fast_acc *a);
	// Behind everything posted to the rank before. DONE or DECLINED. NULL: messages are Go's.
	enum fast_result (*send)(const struct fast_send *s);
	// Whether put would know the way to these n bytes.
	bool (*reaches)(int rank, uintptr_t remote, uint64_t n);
	bool (*is_open)(int32_t request);
	// Waits a little for a request; OPEN: Go has to.
	enum fast_result (*wait)(int32_t request);
	// Looks once whether a request is complete. DECLINED: Go has to look.
	enum fast_result (*test)(int32_t request);
	// True if all stores at the rank, or at all ranks, have taken effect; the counter then says
	// so.
	bool (*fence)(int rank, struct traffic *at);
	bool (*fence_all)(struct traffic *all);
};

// The table to use, NULL while there is none. Set by a fabric, read by capi. A call that has read
// it just before it is cleared is still answered: such a function declines.
extern const struct fast_path *_Atomic fast_path;

// Carry out what another node has asked for at a rank of this one, for its data server; false: the
// memory is as it was, and Go decides. NULL while the library is not in use. Set by capi, called by
// fabrics.
extern bool (*_Atomic fast_serve)(struct fast_change *c);
extern bool (*_Atomic fast_serve_acc)(const struct fast_acc *a);
extern bool (*_Atomic fast_serve_send)(const struct fast_send *s);

// A message in memory of another node: a head, data behind it, and then a word elsewhere, by which
// its receiver learns that both are there.
#define FAST_HEAD 16u
enum fast_parts { FAST_NO_PART, FAST_HEAD_ONLY, FAST_HEAD_AND_DATA, FAST_WHOLE };

// Stores `total` in the head at `to`, n bytes of data, and `count` in the word: how much of that
// has been posted; Go has to store the rest. *request is that under which the data goes on, 0: none
// or a new one.
enum fast_parts fast_message(int rank, struct traffic *at, struct traffic *all, uintptr_t to,
	uint64_t total, void *data, uint64_t n, uintptr_t word, uint32_t count, int32_t *request);
// Stores `count` in the word, behind what this table has stored before; false: nothing has
// happened.
bool fast_word(int rank, struct traffic *at, struct traffic *all, uintptr_t word, uint32_t count);
// Waits a little for a request; false: Go has to.
bool fast_wait(int32_t request);

// Whether transfers are open under a handle with this content.
static inline bool fast_request_open(int32_t content)
{
	if (__builtin_expect(!fast_request(content), 1))
		return false;
	const struct fast_path *f = atomic_load_explicit(&fast_path, memory_order_acquire);
	return f && f->is_open(content);
}

#endif
