/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions. ARMCI reduces int, long, float and double; other types become one of these where the
 * result is the same: unsigned integers for sums, products and bits as they are, for maxima with
 * the highest bit inverted, smaller ones widened, complex sums as sums of their parts. The rest,
 * exclusive or, long double and complex products, goes up a binomial tree of messages and comes
 * back by a broadcast.
 */
#include <complex.h>
#include <limits.h>

#include "osh.h"

enum {
	TAG = 0x05480001, /* of messages of the tree */
	STACK = 1024,     /* bytes of temporary memory that need no allocation */
	MOST = 1 << 26    /* elements of one call of ARMCI */
};


/* ARMCI's operators; null: it has none. */
static char *operator(enum osh_op op)
{
	static char and[] = "&", or[] = "|", max[] = "max", min[] = "min", plus[] = "+",
		times[] = "*";
	static char *const all[] = {and, or, NULL, max, min, plus, times};
	return all[op];
}

static void by_armci(struct osh_team *t, enum osh_op op, int type, size_t elem, void *x, size_t n)
{
	char *at = x;
	for (size_t left = n; left > 0;) {
		int piece = left < MOST ? (int)left : MOST;
		engine.armci_msg_group_gop_scope(SCOPE_ALL, at, piece, operator(op), type,
			&t->group);
		at += (size_t)piece * elem;
		left -= (size_t)piece;
	}
}

static void invert_sign(void *x, size_t n, size_t elem)
{
	uint32_t *word = x;
	uint64_t *longword = x;
	for (size_t i = 0; i < n; i++)
		if (elem == 4)
			word[i] ^= UINT32_C(1) << 31;
		else
			longword[i] ^= UINT64_C(1) << 63;
}

static void integers(struct osh_team *t, enum osh_op op, bool is_signed, size_t elem, void *x,
	size_t n)
{
	bool inverted = !is_signed && (op == OSH_MAX || op == OSH_MIN);
	if (inverted)
		invert_sign(x, n, elem);
	by_armci(t, op, elem == 4 ? ARMCI_INT : ARMCI_LONG, elem, x, n);
	if (inverted)
		invert_sign(x, n, elem);
}

/* Integers of 1 and 2 bytes, as int. */
static void small_integers(struct osh_team *t, enum osh_op op, bool is_signed, size_t elem, void *x,
	size_t n)
{
	int on_stack[STACK / sizeof(int)];
	int *wide = n <= STACK / sizeof(int) ? on_stack : osh_alloc(n * sizeof *wide);
	uint8_t *byte = x;
	uint16_t *word = x;
	for (size_t i = 0; i < n; i++)
		wide[i] = elem == 1 ? (is_signed ? (int8_t)byte[i] : byte[i]) :
				      (is_signed ? (int16_t)word[i] : word[i]);
	by_armci(t, op, ARMCI_INT, sizeof *wide, wide, n);
	for (size_t i = 0; i < n; i++)
		if (elem == 1)
			byte[i] = (uint8_t)wide[i];
		else
			word[i] = (uint16_t)wide[i];
	if (wide != on_stack)
		free(wide);
}

#define EACH(TYPE, EXPRESSION) \
	do { \
		TYPE *a = into; \
		const TYPE *b = from; \
		for (size_t i = 0; i < n; i++) a[i] = (EXPRESSION); \
	} while (0)

/* into[i] = into[i] op from[i] */
static void combine(enum osh_op op, enum osh_kind kind, size_t elem, void *into, const void *from,
	size_t n)
{
	if (op == OSH_XOR) {
		n *= elem;
		EACH(uint8_t, a[i] ^ b[i]);
	} else if (kind == OSH_COMPLEX) {
		if (elem == sizeof(float complex))
			EACH(float complex, a[i] * b[i]);
		else
			EACH(double complex, a[i] * b[i]);
	} else if (op == OSH_SUM) {
		EACH(long double, a[i] + b[i]);
	} else if (op == OSH_PROD) {
		EACH(long double, a[i] * b[i]);
	} else if (op == OSH_MAX) {
		EACH(long double, a[i] > b[i] ? a[i] : b[i]);
	} else {
		EACH(long double, a[i] < b[i] ? a[i] : b[i]);
	}
}

/* Members go up a binomial tree in pieces of at most PIECE bytes. */
static void by_tree(struct osh_team *t, enum osh_op op, enum osh_kind kind, size_t elem, char *x,
	size_t n)
{
	enum { PIECE = 1 << 20 };
	size_t most = PIECE / elem;
	void *other = osh_alloc((n < most ? n : most) * elem);
	for (size_t left = n; left > 0;) {
		size_t piece = left < most ? left : most;
		int bytes = (int)(piece * elem);
		for (int bit = 1; bit < t->n; bit <<= 1) {
			if (t->me & bit) {
				engine.armci_msg_snd(TAG, x, bytes, t->rank[t->me - bit]);
				break;
			}
			if (t->me + bit < t->n) {
				engine.armci_msg_rcv(TAG, other, bytes, NULL, t->rank[t->me + bit]);
				combine(op, kind, elem, x, other, piece);
			}
		}
		engine.armci_msg_group_bcast_scope(SCOPE_ALL, x, bytes, t->rank[0], &t->group);
		x += bytes;
		left -= piece;
	}
	free(other);
}

void osh_reduce(struct osh_team *t, enum osh_op op, enum osh_kind kind, size_t elem, void *dest,
	const void *source, size_t n, const char *fn)
{
	if (!n) {
		osh_barrier(t);
		return;
	}
	if (unlikely(!osh_find(dest, n * elem, osh.me) || !osh_find(source, n * elem, osh.me)))
		osh_bad_address(fn, osh_find(dest, n * elem, osh.me) ? source : dest, n * elem);
	if (dest != source)
		memmove(dest, source, n * elem);
	if (op == OSH_XOR || (kind == OSH_REAL && elem == sizeof(long double)) ||
		(kind == OSH_COMPLEX && op == OSH_PROD))
		by_tree(t, op, kind, elem, dest, n);
	else if (kind == OSH_COMPLEX)
		by_armci(t, op, elem == sizeof(float complex) ? ARMCI_FLOAT : ARMCI_DOUBLE,
			elem / 2, dest, 2 * n);
	else if (kind == OSH_REAL)
		by_armci(t, op, elem == sizeof(float) ? ARMCI_FLOAT : ARMCI_DOUBLE, elem, dest, n);
	else if (elem < sizeof(int))
		small_integers(t, op, kind == OSH_SIGNED, elem, dest, n);
	else
		integers(t, op, kind == OSH_SIGNED, elem, dest, n);
}

#define REDUCE(NAME, TYPE, LOWER, UPPER) \
	API(int, NAME##_##LOWER##_reduce, (shmem_team_t team, TYPE *dest, const TYPE *source, \
		size_t nreduce)) \
	{ \
		osh_reduce(osh_team(team, FN), UPPER, KIND(TYPE), sizeof *dest, dest, source, \
			nreduce, FN); \
		return 0; \
	}
#define BITWISE(NAME, TYPE) \
	REDUCE(NAME, TYPE, and, OSH_AND) \
	REDUCE(NAME, TYPE, or, OSH_OR) \
	REDUCE(NAME, TYPE, xor, OSH_XOR)
#define MINMAX(NAME, TYPE) REDUCE(NAME, TYPE, max, OSH_MAX) REDUCE(NAME, TYPE, min, OSH_MIN)
#define ARITHMETIC(NAME, TYPE) REDUCE(NAME, TYPE, sum, OSH_SUM) REDUCE(NAME, TYPE, prod, OSH_PROD)
SHMEM_BITWISE_REDUCE_TYPES_(BITWISE)
SHMEM_MINMAX_REDUCE_TYPES_(MINMAX)
SHMEM_ARITHMETIC_REDUCE_TYPES_(ARITHMETIC)

/* Deprecated: over active sets. */
#define TO_ALL(NAME, TYPE, LOWER, UPPER) \
	API(void, NAME##_##LOWER##_to_all, (TYPE *dest, const TYPE *source, int nreduce, \
		int PE_start, int logPE_stride, int PE_size, TYPE *pWrk, long *pSync)) \
	{ \
		(void)pWrk, (void)pSync; \
		if (nreduce < 0) \
			osh_die(FN, "nreduce: %d elements", nreduce); \
		osh_reduce(osh_active_set(FN, PE_start, logPE_stride, PE_size), UPPER, KIND(TYPE), \
			sizeof *dest, dest, source, (size_t)nreduce, FN); \
	}
#define BITWISE_TO_ALL(NAME, TYPE) \
	TO_ALL(NAME, TYPE, and, OSH_AND) \
	TO_ALL(NAME, TYPE, or, OSH_OR) \
	TO_ALL(NAME, TYPE, xor, OSH_XOR)
#define MINMAX_TO_ALL(NAME, TYPE) TO_ALL(NAME, TYPE, max, OSH_MAX) TO_ALL(NAME, TYPE, min, OSH_MIN)
#define ARITHMETIC_TO_ALL(NAME, TYPE) \
	TO_ALL(NAME, TYPE, sum, OSH_SUM) TO_ALL(NAME, TYPE, prod, OSH_PROD)
SHMEM_BITWISE_TO_ALL_TYPES_(BITWISE_TO_ALL)
SHMEM_MINMAX_TO_ALL_TYPES_(MINMAX_TO_ALL)
SHMEM_ARITHMETIC_TO_ALL_TYPES_(ARITHMETIC_TO_ALL)
