/*
 * update.c - dst = dst op src for elements in a row under the stripe locks. Must not do arithmetic
 * on data itself and must not hold more than one stripe at a time.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One element, the usual case (counters, flags), goes straight to a function of its own: no loop is
 * set up. More are cut where stripes begin and so that others get their turn (turn.h), also those
 * of several runs. What was there before is copied out piece by piece while the stripe is held, so
 * that the loops of the operators need not know about it.
 */
#include "update_ops.h"

static const struct {
	const struct k_updater *row;
	unsigned char           shift; /* log2 of the element size */
} types[K_UPDATE_TYPES] = {
	[K_I8] = {k_update_i8, 0},
	[K_U8] = {k_update_u8, 0},
	[K_I16] = {k_update_i16, 1},
	[K_U16] = {k_update_u16, 1},
	[K_I32] = {k_update_i32, 2},
	[K_U32] = {k_update_u32, 2},
	[K_I64] = {k_update_i64, 3},
	[K_U64] = {k_update_u64, 3},
	[K_F32] = {k_update_f32, 2},
	[K_F64] = {k_update_f64, 3},
	[K_F80] = {k_update_f80, 4},
	[K_C32] = {k_update_c32, 3},
	[K_C64] = {k_update_c64, 4},
	[K_C80] = {k_update_c80, 5},
	[K_BOOL] = {k_update_l8, 0},
	[K_BYTES] = {k_update_bits, 0},
	[K_L8] = {k_update_l8, 0},
	[K_L16] = {k_update_l16, 1},
	[K_L32] = {k_update_l32, 2},
	[K_L64] = {k_update_l64, 3},
	[K_F32_I] = {k_update_pair_f32_i, 3},
	[K_F64_I] = {k_update_pair_f64_i, 4},
	[K_L_I] = {k_update_pair_l_i, 4},
	[K_2I] = {k_update_pair_2i, 3},
	[K_I16_I] = {k_update_pair_i16_i, 3},
	[K_F80_I] = {k_update_pair_f80_i, 5},
	[K_2F32] = {k_update_pair_2f32, 3},
	[K_2F64] = {k_update_pair_2f64, 4},
	[K_2I64] = {k_update_pair_2i64, 4},
};

_Static_assert(sizeof(long double) == 16 && sizeof(_Bool) == 1 && sizeof(int) == 4 &&
		sizeof(long) == 8,
	"the table above has the sizes of LP64");

/* updater finds the functions of an operator and a type; NULL if it is not defined. */
static inline const struct k_updater *updater(int op, int type)
{
	const struct k_updater *u;

	if ((unsigned)type >= K_UPDATE_TYPES || (unsigned)op >= K_UPDATE_OPS)
		return NULL;
	u = &types[type].row[op];
	if (op <= K_U_NOOP)
		u = &(op == K_U_NOOP ? k_update_noop : k_update_replace)[types[type].shift];
	return u->one ? u : NULL;
}

size_t k_update_bytes(int type)
{
	return (unsigned)type < K_UPDATE_TYPES ? (size_t)1 << types[type].shift : 0;
}

int k_update_valid(int op, int type) { return updater(op, type) != NULL; }

/* piece updates so many elements, which take at most K_TURN bytes and a part of an element. */
static void piece(const struct k_updater *u, char *d, const char *s, char *old, size_t n,
	size_t bytes)
{
	char kept[K_TURN + sizeof(k_b32_at)];

	if (old && old == s)
		s = memcpy(kept, s, bytes);
	if (old)
		k_copy(old, d, bytes);
	u->many(d, s, n);
}

/* row updates elements in a row, cut at stripe boundaries by where elements begin. */
static inline void row(struct k_turn *t, const struct k_updater *u, unsigned shift, char *d,
	const char *s, char *old, size_t n)
{
	while (n > 0) {
		size_t room = K_STRIPE - ((uintptr_t)d & (K_STRIPE - 1)),
		       most = room < K_TURN ? room : K_TURN;
		size_t now = (most + ((size_t)1 << shift) - 1) >> shift, bytes;

		if (now > n)
			now = n;
		bytes = now << shift;
		if (t->st)
			k_turn_at(t, d, K_PIECE_COST + bytes);
		if (now == 1)
			u->one(d, s, old);
		else
			piece(u, d, s, old, now, bytes);
		d += bytes;
		s = s ? s + bytes : NULL;
		old = old ? old + bytes : NULL;
		n -= now;
	}
}

void k_update(const struct k_stripes *st, int op, int type, void *dst, const void *src, void *old,
	size_t n)
{
	const struct k_updater *u = updater(op, type);
	struct k_turn           t = { .st = st };
	k_lock_word            *held;

	if (!u)
		return;
	if (n != 1) {
		row(&t, u, types[type].shift, dst, src, old, n);
		k_turn_end(&t);
	} else if (!st) {
		u->one(dst, src, old);
	} else {
		held = k_take(st, dst);
		u->one(dst, src, old);
		k_unlock(held);
	}
}

void k_update_runs(const struct k_stripes *st, int op, int type, const struct k_segment *runs,
	size_t n, const void *src, void *old)
{
	const struct k_updater *u = updater(op, type);
	struct k_turn           t = { .st = st };
	const char             *s = src;
	char                   *was = old;

	if (!u)
		return;
	for (size_t i = 0, count; i < n; i++) {
		count = runs[i].bytes > 0 ? (size_t)runs[i].bytes >> types[type].shift : 0;
		row(&t, u, types[type].shift, (char *)runs[i].addr, s, was, count);
		count <<= types[type].shift;
		s = s ? s + count : NULL;
		was = was ? was + count : NULL;
	}
	k_turn_end(&t);
}
