/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic operations and signals. All types have 4 or 8 bytes, so each is one ARMCIX_Atomic; the
 * nonblocking ones are complete on return. */
#include "osh.h"

/* Inlined: operation and size are constants then. */
static inline __attribute__((always_inline)) void change(struct osh_ctx *ctx, int op, int bytes,
	void *old, void *dest, const void *operand, const void *compare, int pe, const char *fn)
{
	int rank = osh_rank(ctx, pe, fn);
	char *at = osh_at(dest, (size_t)bytes, rank, fn);
	int code = ARMCIX_Atomic(op, bytes, old, at, operand, compare, rank);
	if (unlikely(code != 0))
		osh_failed(fn, code);
	osh_wrote(rank);
}

void osh_atomic(struct osh_ctx *ctx, int op, int bytes, void *old, void *dest, const void *operand,
	const void *compare, int pe, const char *fn)
{
	change(ctx, op, bytes, old, dest, operand, compare, pe, fn);
}

static void fetch(struct osh_ctx *ctx, int bytes, void *value, const void *source, int pe,
	const char *fn)
{
	int rank = osh_rank(ctx, pe, fn);
	int code = engine.ARMCI_Get(osh_at(source, (size_t)bytes, rank, fn), value, bytes, rank);
	if (unlikely(code != 0))
		osh_failed(fn, code);
}

void osh_signal(struct osh_ctx *ctx, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
	const char *fn)
{
	if (unlikely(sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD))
		osh_die(fn, "sig_op: there is no operation %d", sig_op);
	osh_atomic(ctx, sig_op == SHMEM_SIGNAL_SET ? ARMCIX_SWAP : ARMCIX_ADD, 8, NULL, sig_addr,
		&signal, NULL, pe, fn);
}

#define EXTENDED(C, P, X, NAME, TYPE) \
	API(TYPE, C##NAME##_atomic_fetch, (P() const TYPE *source, int pe)) \
	{ \
		TYPE value; \
		fetch(X, sizeof value, &value, source, pe, FN); \
		return value; \
	} \
	API(void, C##NAME##_atomic_fetch_nbi, (P() TYPE *into, const TYPE *source, int pe)) \
	{ \
		fetch(X, sizeof(TYPE), into, source, pe, FN); \
	} \
	API(void, C##NAME##_atomic_set, (P() TYPE *dest, TYPE value, int pe)) \
	{ \
		change(X, ARMCIX_SWAP, sizeof value, NULL, dest, &value, NULL, pe, FN); \
	} \
	API(TYPE, C##NAME##_atomic_swap, (P() TYPE *dest, TYPE value, int pe)) \
	{ \
		TYPE old; \
		change(X, ARMCIX_SWAP, sizeof value, &old, dest, &value, NULL, pe, FN); \
		return old; \
	} \
	API(void, C##NAME##_atomic_swap_nbi, (P() TYPE *into, TYPE *dest, TYPE value, int pe)) \
	{ \
		change(X, ARMCIX_SWAP, sizeof value, into, dest, &value, NULL, pe, FN); \
	}

#define OPERATION(C, P, X, NAME, TYPE, LOWER, UPPER) \
	API(void, C##NAME##_atomic_##LOWER, (P() TYPE *dest, TYPE value, int pe)) \
	{ \
		change(X, UPPER, sizeof value, NULL, dest, &value, NULL, pe, FN); \
	} \
	API(TYPE, C##NAME##_atomic_fetch_##LOWER, (P() TYPE *dest, TYPE value, int pe)) \
	{ \
		TYPE old; \
		change(X, UPPER, sizeof value, &old, dest, &value, NULL, pe, FN); \
		return old; \
	} \
	API(void, C##NAME##_atomic_fetch_##LOWER##_nbi, (P() TYPE *into, TYPE *dest, TYPE value, \
		int pe)) \
	{ \
		change(X, UPPER, sizeof value, into, dest, &value, NULL, pe, FN); \
	}

#define STANDARD(C, P, X, NAME, TYPE) \
	OPERATION(C, P, X, NAME, TYPE, add, ARMCIX_ADD) \
	API(TYPE, C##NAME##_atomic_compare_swap, (P() TYPE *dest, TYPE cond, TYPE value, int pe)) \
	{ \
		TYPE old; \
		change(X, ARMCIX_CAS, sizeof value, &old, dest, &value, &cond, pe, FN); \
		return old; \
	} \
	API(void, C##NAME##_atomic_compare_swap_nbi, (P() TYPE *into, TYPE *dest, TYPE cond, \
		TYPE value, int pe)) \
	{ \
		change(X, ARMCIX_CAS, sizeof value, into, dest, &value, &cond, pe, FN); \
	} \
	API(void, C##NAME##_atomic_inc, (P() TYPE *dest, int pe)) \
	{ \
		TYPE one = 1; \
		change(X, ARMCIX_ADD, sizeof one, NULL, dest, &one, NULL, pe, FN); \
	} \
	API(TYPE, C##NAME##_atomic_fetch_inc, (P() TYPE *dest, int pe)) \
	{ \
		TYPE old, one = 1; \
		change(X, ARMCIX_ADD, sizeof one, &old, dest, &one, NULL, pe, FN); \
		return old; \
	} \
	API(void, C##NAME##_atomic_fetch_inc_nbi, (P() TYPE *into, TYPE *dest, int pe)) \
	{ \
		TYPE one = 1; \
		change(X, ARMCIX_ADD, sizeof one, into, dest, &one, NULL, pe, FN); \
	}

#define BITWISE(C, P, X, NAME, TYPE) \
	OPERATION(C, P, X, NAME, TYPE, and, ARMCIX_AND) \
	OPERATION(C, P, X, NAME, TYPE, or, ARMCIX_OR) \
	OPERATION(C, P, X, NAME, TYPE, xor, ARMCIX_XOR)

#define EXTENDED_BOTH(NAME, TYPE) BOTH(EXTENDED, NAME, TYPE)
#define STANDARD_BOTH(NAME, TYPE) BOTH(STANDARD, NAME, TYPE)
#define BITWISE_BOTH(NAME, TYPE) BOTH(BITWISE, NAME, TYPE)
SHMEM_EXTENDED_AMO_TYPES_(EXTENDED_BOTH)
SHMEM_AMO_TYPES_(STANDARD_BOTH)
SHMEM_BITWISE_AMO_TYPES_(BITWISE_BOTH)

/* Deprecated names. */
#define OLD(NAME, TYPE) \
	API(TYPE, NAME##_cswap, (TYPE *dest, TYPE cond, TYPE value, int pe)) \
	{ \
		return pshmem_##NAME##_atomic_compare_swap(dest, cond, value, pe); \
	} \
	API(TYPE, NAME##_fadd, (TYPE *dest, TYPE value, int pe)) \
	{ \
		return pshmem_##NAME##_atomic_fetch_add(dest, value, pe); \
	} \
	API(void, NAME##_add, (TYPE *dest, TYPE value, int pe)) \
	{ \
		pshmem_##NAME##_atomic_add(dest, value, pe); \
	} \
	API(TYPE, NAME##_finc, (TYPE *dest, int pe)) { return pshmem_##NAME##_fadd(dest, 1, pe); } \
	API(void, NAME##_inc, (TYPE *dest, int pe)) { pshmem_##NAME##_add(dest, 1, pe); }
#define OLD_EXTENDED(NAME, TYPE) \
	API(TYPE, NAME##_swap, (TYPE *dest, TYPE value, int pe)) \
	{ \
		return pshmem_##NAME##_atomic_swap(dest, value, pe); \
	} \
	API(TYPE, NAME##_fetch, (const TYPE *source, int pe)) \
	{ \
		return pshmem_##NAME##_atomic_fetch(source, pe); \
	} \
	API(void, NAME##_set, (TYPE *dest, TYPE value, int pe)) \
	{ \
		pshmem_##NAME##_atomic_set(dest, value, pe); \
	}
SHMEM_OLD_AMO_TYPES_(OLD)
SHMEM_OLD_EXTENDED_AMO_TYPES_(OLD_EXTENDED)
