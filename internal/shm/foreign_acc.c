// SPDX-License-Identifier: BSD-3-Clause
// Accumulate in private memory of another process: under the lock of its stripe a piece is read,
// added to here, and written back. The owner and all other ranks take the same locks. No more than
// one stripe is held at a time.
#include <errno.h>

#include "../kernel/kernel.h"
#include "shm.h"

enum {
	STRIPE = 1 << K_STRIPE_SHIFT,
	PIECES = 64 // read and written at once
};

// Pieces of one stripe that are accumulated at once, in ascending order, without overlap.
struct group {
	int local;
	bool via_owner;
	const struct k_stripes *st;
	int type;
	const void *scale;
	size_t n, bytes;
	struct shm_run copy[PIECES]; // between the buffer and their memory
	uintptr_t from[PIECES];      // the elements that are added to each piece
	_Alignas(16) uint8_t buffer[STRIPE + 64];
};

// lock_stripe takes the accumulate lock of an address, from ranks and devices, and returns its
// word.
static k_lock_word *lock_stripe(const struct k_stripes *st, uintptr_t at)
{
	k_lock_word *word = k_stripe_word(st, (const void *)at);
	if (!k_try_lock(word, st->owner))
		k_lock_wait(word, st->owner);
	if (st->device)
		k_lock_beside_device(word, st->owner);
	return word;
}

// flush_group accumulates the group's pieces under the lock of their stripe, and empties the group.
// 0 or an errno.
static int flush_group(struct group *g)
{
	if (g->n == 0)
		return 0;
	k_lock_word *held = lock_stripe(g->st, g->copy[0].theirs);
	int err = shm_foreign_move(g->local, g->via_owner, g->copy, g->n, false);
	if (!err) {
		for (size_t i = 0; i < g->n; i++)
			k_acc_raw(g->type, g->scale, (void *)g->copy[i].mine,
				(const void *)g->from[i], (size_t)g->copy[i].bytes);
		err = shm_foreign_move(g->local, g->via_owner, g->copy, g->n, true);
	}
	k_unlock(held);
	g->n = g->bytes = 0;
	return err;
}

// fits_group reports whether a piece can join the group: it has room, and lies behind the last
// piece in the same stripe.
static bool fits_group(const struct group *g, uintptr_t theirs, size_t bytes)
{
	if (g->n == 0)
		return true;
	const struct shm_run *last = &g->copy[g->n - 1];
	return g->n < PIECES && g->bytes + bytes <= sizeof g->buffer &&
		theirs >= last->theirs + (uintptr_t)last->bytes &&
		theirs >> K_STRIPE_SHIFT == g->copy[0].theirs >> K_STRIPE_SHIFT;
}

// add_piece appends a piece to the group, which is flushed first if it does not fit. 0 or an errno.
static int add_piece(struct group *g, uintptr_t mine, uintptr_t theirs, size_t bytes)
{
	int err = fits_group(g, theirs, bytes) ? 0 : flush_group(g);
	g->copy[g->n] = (struct shm_run){(uintptr_t)g->buffer + g->bytes, theirs, (int64_t)bytes};
	g->from[g->n++] = mine;
	g->bytes += bytes;
	return err;
}

int shm_foreign_acc(int local, bool via_owner, const struct k_stripes *st, int type,
	const void *scale, const struct shm_run *r, size_t n)
{
	size_t element = k_small_size(type);
	struct group g = {.local = local,
		.via_owner = via_owner,
		.st = st,
		.type = type,
		.scale = scale};
	int err = element ? 0 : EINVAL;
	for (; n > 0 && !err; n--, r++) {
		uintptr_t mine = r->mine, theirs = r->theirs;
		for (size_t left = (size_t)r->bytes / element * element, some; left > 0 && !err;
			left -= some) {
			// an element belongs to the stripe of its first byte
			some = STRIPE - (theirs & (STRIPE - 1));
			some = (some + element - 1) / element * element;
			some = some < left ? some : left;
			err = add_piece(&g, mine, theirs, some);
			mine += some;
			theirs += some;
		}
	}
	return err ? err : flush_group(&g);
}
