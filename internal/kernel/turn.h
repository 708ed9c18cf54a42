/*
 * turn.h - how consecutive pieces of an accumulate or update share the lock of a stripe, private to
 * this directory. Must not hold more than one stripe at a time.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Pieces are cut where stripes begin. Those in one stripe that follow each other share one lock,
 * but only so many of them that others get their turn.
 */
#ifndef LIBARMCI_KERNEL_TURN_H
#define LIBARMCI_KERNEL_TURN_H

#include "kernel.h"

enum {
	K_STRIPE = 1 << K_STRIPE_SHIFT,
	K_PIECE_COST = 16,                  /* what a piece costs besides its bytes, in bytes */
	K_TURN = 4096 + 64 * K_PIECE_COST   /* cost after which a lock is given up */
};

/* A turn: begin with { .st = ... }, and end with k_turn_end. */
struct k_turn {
	const struct k_stripes *st;    /* NULL: no locks */
	k_lock_word            *held;  /* lock word that is held, or NULL */
	uintptr_t               page;  /* which stripe-sized page it was taken for */
	size_t                  spent; /* cost since it was taken */
};

/* k_take_word takes a lock word, which processors and devices may hold. */
static inline void k_take_word(const struct k_stripes *st, k_lock_word *word)
{
	if (__builtin_expect(!k_try_lock(word, st->owner), 0))
		k_lock_wait(word, st->owner);
	if (__builtin_expect(st->device, 0))
		k_lock_beside_device(word, st->owner);
}

static inline void k_turn_end(struct k_turn *t)
{
	if (t->held)
		k_unlock(t->held);
	t->held = NULL;
}

/* k_turn_at makes sure that the stripe of d is held, for pieces that cost so much. There must be
 * stripes. */
static inline __attribute__((always_inline)) void k_turn_at(struct k_turn *t, const char *d,
	size_t cost)
{
	uintptr_t page = (uintptr_t)d >> K_STRIPE_SHIFT;

	if (!t->held || t->page != page || t->spent >= K_TURN) {
		k_turn_end(t);
		t->held = k_stripe_word(t->st, d);
		t->page = page;
		t->spent = 0;
		k_take_word(t->st, t->held);
	}
	t->spent += cost;
}

#endif
