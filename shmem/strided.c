/* SPDX-License-Identifier: BSD-3-Clause */
/* Strided transfers: one strided call of ARMCI each, or one call for each element where a stride
 * does not fit one. */
#include <limits.h>

#include "osh.h"

struct strided {
	char *dest, *source;    /* the remote one as ARMCI addresses it */
	ptrdiff_t to, from;     /* bytes from one element to the next */
	size_t n, elem;
	int rank;
};

static bool fits(const struct strided *s)
{
	return s->to >= (ptrdiff_t)s->elem && s->from >= (ptrdiff_t)s->elem && s->to <= INT_MAX &&
		s->from <= INT_MAX && s->n <= INT_MAX;
}

static int move(const struct strided *s, bool put)
{
	int from = (int)s->from, to = (int)s->to, count[2] = {(int)s->elem, (int)s->n}, code = 0;
	if (fits(s))
		return (put ? engine.ARMCI_PutS : engine.ARMCI_GetS)(s->source, &from, s->dest, &to,
			count, 1, s->rank);
	for (size_t i = 0; i < s->n && code == 0; i++)
		code = (put ? engine.ARMCI_Put : engine.ARMCI_Get)(
			s->source + (ptrdiff_t)i * s->from, s->dest + (ptrdiff_t)i * s->to,
			(int)s->elem, s->rank);
	return code;
}

static void strided(struct osh_ctx *ctx, bool put, void *dest, const void *source, ptrdiff_t dst,
	ptrdiff_t sst, size_t n, size_t elem, int pe, const char *fn)
{
	int rank = osh_rank(ctx, pe, fn);
	if (!n)
		return;
	struct strided s = {.dest = dest, .source = (char *)(uintptr_t)source, .n = n,
		.elem = elem, .rank = rank, .to = dst * (ptrdiff_t)elem,
		.from = sst * (ptrdiff_t)elem};
	if (dst < 1 || sst < 1)
		osh_die(fn, "%s: a stride of %td elements", dst < 1 ? "dst" : "sst",
			dst < 1 ? dst : sst);
	size_t to = (n - 1) * (size_t)s.to + elem, from = (n - 1) * (size_t)s.from + elem;
	s.dest = put ? osh_at(dest, to, rank, fn) : osh_local(dest, to, rank, fn);
	s.source = put ? osh_local(source, from, rank, fn) : osh_at(source, from, rank, fn);
	int code = move(&s, put);
	if (code != 0)
		osh_failed(fn, code);
	if (put)
		osh_wrote(rank);
}

#define STRIDED(C, P, X, PUT, GET, TYPE, BYTES) \
	API(void, C##PUT, (P() TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
		size_t nelems, int pe)) \
	{ \
		strided(X, true, dest, source, dst, sst, nelems, BYTES, pe, FN); \
	} \
	API(void, C##GET, (P() TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
		size_t nelems, int pe)) \
	{ \
		strided(X, false, dest, source, dst, sst, nelems, BYTES, pe, FN); \
	}
#define TYPED(NAME, TYPE) BOTH(STRIDED, NAME##_iput, NAME##_iget, TYPE, sizeof(TYPE))
SHMEM_RMA_TYPES_(TYPED)
BOTH(STRIDED, iput8, iget8, void, 1)
BOTH(STRIDED, iput16, iget16, void, 2)
BOTH(STRIDED, iput32, iget32, void, 4)
BOTH(STRIDED, iput64, iget64, void, 8)
BOTH(STRIDED, iput128, iget128, void, 16)
