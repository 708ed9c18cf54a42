/*
 * acc_locked.c - accumulate under the stripe locks: contiguous, strided, vector. Must not do
 * arithmetic on data itself and must not hold more than one stripe at a time.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Consecutive pieces in one stripe share one lock (turn.h). Stripes are large because taking a lock
 * costs as much as adding several rows of a small patch: it waits for the stores before it. (Tried:
 * taking several stripes in a row, and prefetching the next lock or its data, do not pay.)
 */
#include "acc_kernels.h"
#include "turn.h"
#include "walk.h"

/* Inlined even though there are several callers: an operation then lives in registers. */
#define HOT static inline __attribute__((always_inline))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* One accumulate operation under way. */
struct op {
	struct k_turn turn;
	const void   *scale;
	k_adder       add;   /* for many elements */
	k_adder       one;   /* for one element */
	unsigned      shift; /* log2 of the element size */
};

/* start prepares an operation: 0 if the type has no accumulate. */
static int start(struct op *op, const struct k_stripes *st, int type, const void *scale)
{
	op->add = k_adder_for(type, scale);
	if (!op->add)
		return 0;
	op->one = k_adder_of_one(type);
	op->scale = scale;
	op->shift = (unsigned)__builtin_ctzl(k_small_size(type));
	op->turn = (struct k_turn){ .st = st };
	return 1;
}

/* piece accumulates nelem contiguous elements, cut at stripe boundaries by where elements begin. */
HOT void piece(struct op *op, char *d, const char *s, size_t nelem)
{
	while (nelem > 0) {
		size_t room = K_STRIPE - ((uintptr_t)d & (K_STRIPE - 1));
		size_t n = (MIN(room, K_TURN) + ((size_t)1 << op->shift) - 1) >> op->shift;

		if (n > nelem)
			n = nelem;
		k_turn_at(&op->turn, d, K_PIECE_COST + (n << op->shift));
		(n == 1 ? op->one : op->add)(d, 0, s, 0, op->scale, n, 1);
		d += n << op->shift;
		s += n << op->shift;
		nelem -= n;
	}
}

void k_acc(const struct k_stripes *st, int type, const void *scale, void *dst, const void *src,
	size_t nbytes)
{
	struct op op;

	if (!st) {
		k_acc_raw(type, scale, dst, src, nbytes);
		return;
	}
	if (k_acc_small(st, type, scale, dst, src, nbytes) || !start(&op, st, type, scale))
		return;
	piece(&op, dst, src, nbytes >> op.shift);
	k_turn_end(&op.turn);
}

/* rows_here tells how many rows of so many bytes, the first at d, lie in the stripe of d as a whole
 * and take one turn. */
HOT size_t rows_here(const char *d, int64_t step, size_t bytes, size_t rows)
{
	size_t  at = (uintptr_t)d & (K_STRIPE - 1), cost = K_PIECE_COST + bytes;
	int64_t room = step > 0 ? (int64_t)(K_STRIPE - at - bytes) : (int64_t)at;
	int64_t each = step > 0 ? step : -step;

	if (bytes > K_STRIPE - at)
		return 0;
	if (each > room)
		return 1;
	if (each > 0)
		rows = MIN(rows, (uint32_t)room / (uint32_t)each + 1);
	return rows * cost <= K_TURN ? rows : MAX(1, K_TURN / cost);
}

/* plane accumulates rows of nelem elements, locked or not. */
HOT void plane(struct op *op, char *d, int64_t dstep, const char *s, int64_t sstep, size_t nelem,
	size_t rows)
{
	size_t bytes = nelem << op->shift, n = rows;

	for (; rows > 0; rows -= n, d += (int64_t)n * dstep, s += (int64_t)n * sstep) {
		if (op->turn.st)
			n = rows_here(d, dstep, bytes, rows);
		if (n == 0) {
			piece(op, d, s, nelem);
			n = 1;
			continue;
		}
		if (op->turn.st)
			k_turn_at(&op->turn, d, n * (K_PIECE_COST + bytes));
		op->add(d, dstep, s, sstep, op->scale, nelem, n);
	}
}

/* walk_rows accumulates all planes of a walk. */
static void walk_rows(struct op *op, const struct k_walk *w, char *dst, const char *src)
{
	int64_t idx[K_MAX_LEVELS] = { 0 }, soff = 0, doff = 0;

	do
		plane(op, dst + doff, w->b[0], src + soff, w->a[0], (size_t)w->row >> op->shift,
			(size_t)w->count[0]);
	while (k_walk_step(w, idx, &soff, &doff));
}

/* is_plane tells whether a shape is in its normal form and has one level: a patch, as most are. */
static int is_plane(const int *sstride, const int *dstride, const int *count, int levels)
{
	return levels == 1 && count[0] > 0 && count[1] > 1 &&
		(sstride[0] != count[0] || dstride[0] != count[0]);
}

void k_acc_strided(const struct k_stripes *st, int type, const void *scale, const void *src,
	const int *sstride, void *dst, const int *dstride, const int *count, int levels)
{
	struct k_walk w;
	struct op     op;

	if (levels == 0 || (levels == 1 && count[1] == 1)) {
		k_acc(st, type, scale, dst, src, count[0] > 0 ? (size_t)count[0] : 0);
		return;
	}
	if (is_plane(sstride, dstride, count, levels)) {
		if (!start(&op, st, type, scale))
			return;
		plane(&op, dst, dstride[0], src, sstride[0], (size_t)count[0] >> op.shift,
			(size_t)count[1]);
	} else {
		k_walk_init(&w, sstride, dstride, count, levels);
		if (w.levels == 0) {
			k_acc(st, type, scale, dst, src, (size_t)w.row);
			return;
		}
		if (!start(&op, st, type, scale))
			return;
		walk_rows(&op, &w, dst, src);
	}
	k_turn_end(&op.turn);
}

void k_acc_vector(const struct k_stripes *st, int type, const void *scale, void *const *src,
	void *const *dst, size_t bytes, size_t n)
{
	struct op op;

	if (!start(&op, st, type, scale))
		return;
	for (size_t i = 0; i < n; i++)
		if (st)
			piece(&op, dst[i], src[i], bytes >> op.shift);
		else
			op.add(dst[i], 0, src[i], 0, scale, bytes >> op.shift, 1);
	k_turn_end(&op.turn);
}
