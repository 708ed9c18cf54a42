/* SPDX-License-Identifier: BSD-3-Clause */
/* Contiguous transfers: what they become, then the functions of all types and sizes. Within a node
 * a nonblocking one is a blocking one. */
#include "osh.h"

/* Most bytes of one call of ARMCI: its sizes are int. */
enum { PIECE = 1 << 30 };

void osh_put(struct osh_ctx *ctx, void *dest, const void *source, size_t bytes, int pe,
	const char *fn)
{
	int rank = osh_rank(ctx, pe, fn), code;
	if (!bytes)
		return;
	char *to = osh_at(dest, bytes, rank, fn), *from = osh_local(source, bytes, rank, fn);
	for (; unlikely(bytes > PIECE); bytes -= PIECE, to += PIECE, from += PIECE)
		if ((code = engine.ARMCI_Put(from, to, PIECE, rank)) != 0)
			osh_failed(fn, code);
	if (unlikely((code = engine.ARMCI_Put(from, to, (int)bytes, rank)) != 0))
		osh_failed(fn, code);
	osh_wrote(rank);
}

void osh_get(struct osh_ctx *ctx, void *dest, const void *source, size_t bytes, int pe,
	const char *fn)
{
	int rank = osh_rank(ctx, pe, fn), code;
	if (!bytes)
		return;
	char *from = osh_at(source, bytes, rank, fn), *to = osh_local(dest, bytes, rank, fn);
	for (; unlikely(bytes > PIECE); bytes -= PIECE, to += PIECE, from += PIECE)
		if ((code = engine.ARMCI_Get(from, to, PIECE, rank)) != 0)
			osh_failed(fn, code);
	if (unlikely((code = engine.ARMCI_Get(from, to, (int)bytes, rank)) != 0))
		osh_failed(fn, code);
}

/* The handle for a nonblocking call: the context's own, or the implicit one, which is null. */
static armci_hdl_t *open_handle(struct osh_ctx *ctx)
{
	atomic_store_explicit(&ctx->open, true, memory_order_release);
	return ctx->own ? &ctx->handle : NULL;
}

void osh_put_nbi(struct osh_ctx *ctx, void *dest, const void *source, size_t bytes, int pe,
	const char *fn)
{
	int rank = osh_rank(ctx, pe, fn), code;
	if (osh.sleepers[rank] || bytes > PIECE || !bytes) {
		osh_put(ctx, dest, source, bytes, pe, fn);
		return;
	}
	char *to = osh_at(dest, bytes, rank, fn);
	char *from = osh_local(source, bytes, rank, fn);
	if ((code = engine.ARMCI_NbPut(from, to, (int)bytes, rank, open_handle(ctx))) != 0)
		osh_failed(fn, code);
}

void osh_get_nbi(struct osh_ctx *ctx, void *dest, const void *source, size_t bytes, int pe,
	const char *fn)
{
	int rank = osh_rank(ctx, pe, fn), code;
	if (osh.sleepers[rank] || bytes > PIECE || !bytes) {
		osh_get(ctx, dest, source, bytes, pe, fn);
		return;
	}
	char *from = osh_at(source, bytes, rank, fn), *to = osh_local(dest, bytes, rank, fn);
	if ((code = engine.ARMCI_NbGet(from, to, (int)bytes, rank, open_handle(ctx))) != 0)
		osh_failed(fn, code);
}

#define TRANSFERS(C, P, X, PUT, GET, NBI, TYPE, BYTES) \
	API(void, C##PUT, (P() TYPE *dest, const TYPE *source, size_t nelems, int pe)) \
	{ \
		osh_put(X, dest, source, nelems * BYTES, pe, FN); \
	} \
	API(void, C##GET, (P() TYPE *dest, const TYPE *source, size_t nelems, int pe)) \
	{ \
		osh_get(X, dest, source, nelems * BYTES, pe, FN); \
	} \
	API(void, C##PUT##NBI, (P() TYPE *dest, const TYPE *source, size_t nelems, int pe)) \
	{ \
		osh_put_nbi(X, dest, source, nelems * BYTES, pe, FN); \
	} \
	API(void, C##GET##NBI, (P() TYPE *dest, const TYPE *source, size_t nelems, int pe)) \
	{ \
		osh_get_nbi(X, dest, source, nelems * BYTES, pe, FN); \
	} \
	API(void, C##PUT##_signal, (P() TYPE *dest, const TYPE *source, size_t nelems, \
		uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)) \
	{ \
		struct osh_ctx *x = X; \
		osh_put(x, dest, source, nelems * BYTES, pe, FN); \
		osh_signal(x, sig_addr, signal, sig_op, pe, FN); \
	} \
	API(void, C##PUT##_signal##NBI, (P() TYPE *dest, const TYPE *source, size_t nelems, \
		uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)) \
	{ \
		struct osh_ctx *x = X; \
		osh_put(x, dest, source, nelems * BYTES, pe, FN); \
		osh_signal(x, sig_addr, signal, sig_op, pe, FN); \
	}

/* On the node a value is stored and loaded here: a copy of its size is one store or load. */
#define SCALARS(C, P, X, NAME, TYPE) \
	API(void, C##NAME##_p, (P() TYPE *dest, TYPE value, int pe)) \
	{ \
		int rank = osh_rank(X, pe, FN), code; \
		char *to = osh_at(dest, sizeof value, rank, FN); \
		if (likely(osh.sleepers[rank] && (uintptr_t)to % _Alignof(TYPE) == 0)) { \
			memcpy(__builtin_assume_aligned(to, _Alignof(TYPE)), &value, \
				sizeof value); \
			osh_wrote(rank); \
		} else if ((code = engine.ARMCI_Put(&value, to, sizeof value, rank)) != 0) { \
			osh_failed(FN, code); \
		} \
	} \
	API(TYPE, C##NAME##_g, (P() const TYPE *source, int pe)) \
	{ \
		int rank = osh_rank(X, pe, FN), code; \
		char *from = osh_at(source, sizeof(TYPE), rank, FN); \
		TYPE value; \
		if (likely(osh.sleepers[rank] && (uintptr_t)from % _Alignof(TYPE) == 0)) \
			memcpy(&value, __builtin_assume_aligned(from, _Alignof(TYPE)), \
				sizeof value); \
		else if ((code = engine.ARMCI_Get(from, &value, sizeof value, rank)) != 0) \
			osh_failed(FN, code); \
		return value; \
	}

#define TYPED(NAME, TYPE) \
	BOTH(TRANSFERS, NAME##_put, NAME##_get, _nbi, TYPE, sizeof(TYPE)) \
	BOTH(SCALARS, NAME, TYPE)
SHMEM_RMA_TYPES_(TYPED)

#define SIZED(BITS, BYTES) BOTH(TRANSFERS, put##BITS, get##BITS, _nbi, void, BYTES)
SIZED(8, 1)
SIZED(16, 2)
SIZED(32, 4)
SIZED(64, 8)
SIZED(128, 16)
SIZED(mem, 1)
