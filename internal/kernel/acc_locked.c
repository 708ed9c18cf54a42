/*
 * acc_locked.c - accumulate under the stripe locks: contiguous, strided, vector. Must not do arithmetic on data itself
 * and must not hold more than one stripe at a time.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Pieces are cut where stripes begin; consecutive pieces in one stripe share one lock, but only so many of them that
 * others get their turn. (Tried: taking several stripes in a row, and prefetching the next lock or its data, do not pay.)
 */
#include "acc_kernels.h"
#include "walk.h"

enum {
	STRIPE = 1 << K_STRIPE_SHIFT,
	PIECE_COST = 16,                /* what a piece costs besides its bytes, in bytes */
	TURN = STRIPE + 64 * PIECE_COST /* cost after which a lock is given up */
};

/* Inlined even though there are several callers: an operation then lives in registers. */
#define HOT static inline __attribute__((always_inline))

/* One accumulate operation under way. */
struct op {
	const struct k_stripes *st;
	const void             *scale;
	k_adder                 add;   /* for many elements */
	k_adder                 one;   /* for one element */
	unsigned                shift; /* log2 of the element size */
	uint32_t               *held;  /* lock word that is held, or NULL */
	uintptr_t               page;  /* which stripe-sized page it was taken for */
	size_t                  spent; /* cost since it was taken */
};

/* start prepares an operation: 0 if the type has no accumulate. */
static int start(struct op *op, const struct k_stripes *st, int type, const void *scale)
{
	op->add = k_adder_for(type, scale);
	if (!op->add)
		return 0;
	op->one = k_adder_of_one(type);
	op->st = st;
	op->scale = scale;
	op->shift = (unsigned)__builtin_ctzl(k_small_size(type));
	op->held = NULL;
	op->page = 0;
	op->spent = 0;
	return 1;
}

static void release(struct op *op)
{
	if (op->held)
		k_unlock(op->held);
	op->held = NULL;
}

/* enter makes sure that the stripe of d is held, for a piece of n bytes. */
HOT void enter(struct op *op, const char *d, size_t n)
{
	uintptr_t page = (uintptr_t)d >> K_STRIPE_SHIFT;

	if (!op->held || op->page != page || op->spent >= TURN) {
		release(op);
		op->held = k_stripe_word(op->st, d);
		op->page = page;
		op->spent = 0;
		if (!k_try_lock(op->held, op->st->owner))
			k_lock_wait(op->held, op->st->owner);
		if (op->st->device)
			k_lock_beside_device(op->held, op->st->owner);
	}
	op->spent += PIECE_COST + n;
}

/* piece accumulates nelem contiguous elements, cut at stripe boundaries by where elements begin. */
HOT void piece(struct op *op, char *d, const char *s, size_t nelem)
{
	while (nelem > 0) {
		size_t room = STRIPE - ((uintptr_t)d & (STRIPE - 1));
		size_t n = (room + ((size_t)1 << op->shift) - 1) >> op->shift;

		if (n > nelem)
			n = nelem;
		enter(op, d, n << op->shift);
		(n == 1 ? op->one : op->add)(d, s, op->scale, n);
		d += n << op->shift;
		s += n << op->shift;
		nelem -= n;
	}
}

void k_acc(const struct k_stripes *st, int type, const void *scale, void *dst, const void *src, size_t nbytes)
{
	struct op op;

	if (!st) {
		k_acc_raw(type, scale, dst, src, nbytes);
		return;
	}
	if (k_acc_small(st, type, scale, dst, src, nbytes) || !start(&op, st, type, scale))
		return;
	piece(&op, dst, src, nbytes >> op.shift);
	release(&op);
}

/* row accumulates one contiguous row, locked or not. */
HOT void row(struct op *op, char *d, const char *s, size_t nelem)
{
	if (op->st)
		piece(op, d, s, nelem);
	else
		op->add(d, s, op->scale, nelem);
}

void k_acc_strided(const struct k_stripes *st, int type, const void *scale, const void *src, const int *sstride,
                   void *dst, const int *dstride, const int *count, int levels)
{
	struct k_walk w;
	struct op     op;
	int64_t       idx[K_MAX_LEVELS] = { 0 }, soff = 0, doff = 0;

	k_walk_init(&w, sstride, dstride, count, levels);
	if (w.row == 0 || !start(&op, st, type, scale))
		return;
	do {
		char       *d = (char *)dst + doff;
		const char *s = (const char *)src + soff;

		for (int64_t i = 0; i < w.count[0]; i++)
			row(&op, d + i * w.b[0], s + i * w.a[0], (size_t)w.row >> op.shift);
	} while (k_walk_step(&w, idx, &soff, &doff));
	release(&op);
}

void k_acc_vector(const struct k_stripes *st, int type, const void *scale, void *const *src, void *const *dst,
                  size_t bytes, size_t n)
{
	struct op op;

	if (!start(&op, st, type, scale))
		return;
	for (size_t i = 0; i < n; i++)
		row(&op, dst[i], src[i], bytes >> op.shift);
	release(&op);
}
