// SPDX-License-Identifier: BSD-3-Clause
// Updates in private memory of another process: pieces are read, updated here and written back,
// many at a time, under the locks of all their stripes. The owner and all other ranks take the same
// locks. The arithmetic is k_update's.
#include <errno.h>
#include <string.h>

#include "../kernel/kernel.h"
#include "../kernel/update.h"
#include "shm.h"

enum {
	STRIPE = 1 << K_STRIPE_SHIFT,
	// pieces of a batch: as many as shm_vm_move reads or writes by one call of the kernel
	PIECES = 256,
	ROOM = 32 << 10 // bytes of a batch; other ranks wait for its locks meanwhile
};

// Pieces in the order of their elements. Each begins and, but for a part of its last element, ends
// in one stripe.
struct batch {
	const struct shm_update *u;
	size_t element;
	const char *src; // operands of the first piece; NULL: the operator has none
	char *old;       // fetched values of the first piece; NULL: none are fetched
	size_t n, bytes;
	struct k_segment piece[PIECES], sorted[PIECES];
	struct shm_run copy[PIECES];
	k_lock_word *held[PIECES];
	_Alignas(16) char buffer[ROOM];
};

// update_disjoint updates n pieces from `first` on, of which none overlaps another, under the locks
// of their stripes. Their operands are `at` bytes behind those of the batch's first piece. 0 or an
// errno.
static int update_disjoint(struct batch *b, size_t first, size_t n, size_t at)
{
	const struct shm_update *u = b->u;
	size_t bytes = 0, locks;
	int err = 0;
	for (size_t i = 0; i < n; bytes += (size_t)b->copy[i++].bytes) {
		const struct k_segment *p = &b->piece[first + i];
		b->copy[i] = (struct shm_run){(uintptr_t)b->buffer + bytes, p->addr, p->bytes};
	}
	locks = k_stripes_hold_runs(u->st, b->piece + first, n, b->held);
	if (u->op != K_U_REPLACE || b->old)
		err = shm_foreign_move(u->local, u->via_owner, b->copy, n, false);
	if (!err) {
		k_update(NULL, u->op, u->type, b->buffer, b->src ? b->src + at : NULL,
			b->old ? b->old + at : NULL, bytes / b->element);
		if (u->op != K_U_NOOP)
			err = shm_foreign_move(u->local, u->via_owner, b->copy, n, true);
	}
	k_stripes_drop_runs(b->held, locks);
	return err;
}

// sort_pieces sorts pieces by address. It is a shell sort, in place.
static void sort_pieces(struct k_segment *r, size_t n)
{
	static const uint8_t gaps[] = {132, 57, 23, 10, 4, 1};
	for (size_t g = 0; g < sizeof gaps; g++)
		for (size_t i = gaps[g], j; i < n; i++) {
			struct k_segment one = r[i];
			for (j = i; j >= gaps[g] && r[j - gaps[g]].addr > one.addr; j -= gaps[g])
				r[j] = r[j - gaps[g]];
			r[j] = one;
		}
}

// are_disjoint reports whether each piece lies behind the one before it.
static bool are_disjoint(const struct k_segment *r, size_t n)
{
	size_t i = 1;
	while (i < n && r[i].addr >= r[i - 1].addr + (uintptr_t)r[i - 1].bytes)
		i++;
	return i >= n;
}

// any_overlap reports whether two of n pieces overlap.
static bool any_overlap(struct batch *b, size_t first, size_t n)
{
	if (are_disjoint(b->piece + first, n))
		return false;
	memcpy(b->sorted, b->piece + first, n * sizeof *b->sorted);
	sort_pieces(b->sorted, n);
	return !are_disjoint(b->sorted, n);
}

// update_in_order updates n pieces from `first` on. If pieces overlap, it updates one half after
// the other, so that each piece is updated after those before it. 0 or an errno.
static int update_in_order(struct batch *b, size_t first, size_t n, size_t at)
{
	if (n < 2 || !any_overlap(b, first, n))
		return update_disjoint(b, first, n, at);
	int err = update_in_order(b, first, n / 2, at);
	for (size_t i = 0; i < n / 2; i++)
		at += (size_t)b->piece[first + i].bytes;
	return err ? err : update_in_order(b, first + n / 2, n - n / 2, at);
}

// flush_batch updates all pieces of the batch and empties it. 0 or an errno.
static int flush_batch(struct batch *b)
{
	int err = b->n ? update_in_order(b, 0, b->n, 0) : 0;
	b->src = b->src ? b->src + b->bytes : NULL;
	b->old = b->old ? b->old + b->bytes : NULL;
	b->n = b->bytes = 0;
	return err;
}

// piece_bytes returns how many of the bytes at an address can be one piece: whole elements that
// begin in one stripe, and for which the buffer has room.
static size_t piece_bytes(const struct batch *b, uintptr_t addr, size_t bytes)
{
	size_t some = (STRIPE - (addr & (STRIPE - 1)) + b->element - 1) / b->element * b->element;
	size_t room = (ROOM - b->bytes) / b->element * b->element;
	some = some < room ? some : room;
	return some < bytes ? some : bytes;
}

int shm_foreign_update(const struct shm_update *u, const struct k_segment *r, size_t n,
	const void *src, void *old)
{
	struct batch b;
	int err = 0;
	b.u = u;
	b.element = k_update_bytes(u->type);
	b.src = src;
	b.old = old;
	b.n = b.bytes = 0;
	if (b.element == 0 || !k_update_valid(u->op, u->type))
		return EINVAL;
	for (; n > 0 && !err; n--, r++) {
		uintptr_t addr = r->addr;
		for (size_t left = r->bytes > 0 ? (size_t)r->bytes / b.element * b.element : 0,
			    some;
			left > 0 && !err; left -= some) {
			if (b.n == PIECES || ROOM - b.bytes < b.element)
				err = flush_batch(&b);
			some = piece_bytes(&b, addr, left);
			b.piece[b.n++] = (struct k_segment){addr, (int64_t)some};
			b.bytes += some;
			addr += some;
		}
	}
	return err ? err : flush_batch(&b);
}
