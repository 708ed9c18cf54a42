// SPDX-License-Identifier: BSD-3-Clause
// fast.h - the C fast path to other nodes: a table of functions that carry out small blocking puts and gets, and fences
// of those puts, without entering Go. A fabric that has such functions publishes its table while they may be called;
// the public functions (capi) call whatever table is there and name no fabric. A function either does the whole job or
// declines, and then the caller enters Go. It never logs, allocates, or reports an error.
#ifndef ARMCI_FAST_H
#define ARMCI_FAST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define FAST_BYTES 256u // the longest transfer

// DECLINED: nothing has happened. PENDING: a get has been posted; wait for it in Go, then call collect.
enum fast_result { FAST_DECLINED, FAST_DONE, FAST_PENDING };

// Counts the stores of this process at one rank, or at all ranks together: no store is outstanding while both are equal.
// The counters belong to core (core.Traffic, which has the same layout); a fast path counts its puts in them.
struct traffic {
	_Atomic uint32_t posted; // raised after a store has been posted
	_Atomic uint32_t fenced; // value of posted up to which the stores are known to have taken effect
};

struct fast_path {
	// Puts n bytes and counts the store at the rank and in all; local may be reused.
	enum fast_result (*put)(int rank, const void *local, uintptr_t remote, uint64_t n, struct traffic *at, struct traffic *all);
	// put, for what must not be there before the stores at the rank that no fence has covered: declined unless those were all
	// made by this table.
	enum fast_result (*put_after)(int rank, const void *local, uintptr_t remote, uint64_t n, struct traffic *at, struct traffic *all);
	// Whether put would know the way to these n bytes.
	bool (*reaches)(int rank, uintptr_t remote, uint64_t n);
	// Gets n bytes.
	enum fast_result (*get)(int rank, void *local, uintptr_t remote, uint64_t n);
	// Copies the n bytes of a pending get that has completed.
	void (*collect)(void *local, uint64_t n);
	// True if all stores at the rank, or at all ranks, have taken effect; the counter then says so.
	bool (*fence)(int rank, struct traffic *at);
	bool (*fence_all)(struct traffic *all);
};

// The table to use, NULL while there is none. Set by a fabric, read by capi. A call that has read it just before it is
// cleared is still answered: such a function declines.
extern const struct fast_path *_Atomic fast_path;

#endif
