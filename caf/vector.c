/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sides with vector subscripts. Subscripts become distances in bytes once; those in arithmetic
 * progression become a plain dimension. A transfer is one vector operation of ARMCI, whose segments
 * are the runs of the contiguous inner dimensions.
 */
#include <limits.h>
#include <string.h>

#include "caf.h"

enum { SEGMENTS = 1 << 14 }; /* of one operation */

void caf_side_add(struct caf_side *s, ptrdiff_t count, ptrdiff_t stride)
{
	if (s->s.rank >= CAF_MAX_RANK)
		return;
	s->s.count[s->s.rank] = count > 0 ? count : 0;
	s->s.stride[s->s.rank++] = stride;
	s->s.n *= count > 0 ? (size_t)count : 0;
}

static ptrdiff_t subscript(const void *vector, size_t i, int kind)
{
	switch (kind) {
	case 1: return ((const int8_t *)vector)[i];
	case 2: return ((const int16_t *)vector)[i];
	case 4: return ((const int32_t *)vector)[i];
	case 8: return (ptrdiff_t)((const int64_t *)vector)[i];
	default: return (ptrdiff_t)((const __int128 *)vector)[i];
	}
}

/* Whether the distances grow by a constant. */
static bool is_progression(const ptrdiff_t *at, size_t n)
{
	for (size_t i = 2; i < n; i++) {
		if (at[i] - at[i - 1] != at[1] - at[0])
			return false;
	}
	return true;
}

int caf_side_add_vector(struct caf_side *s, const void *vector, size_t n, int kind, ptrdiff_t lower,
	ptrdiff_t stride)
{
	if (kind != 1 && kind != 2 && kind != 4 && kind != 8 && kind != 16)
		return CAF_MOVE_VECTOR;
	/* gfortran divides by the stride of the subscripts, which makes a descending vector
	 * negative */
	if (n > PTRDIFF_MAX)
		return CAF_MOVE_VECTOR;
	if (s->s.rank >= CAF_MAX_RANK)
		return CAF_MOVE_PATH;
	s->subscripts = true;
	ptrdiff_t *at = malloc(n * sizeof *at + 1);
	if (!at)
		return CAF_MOVE_MEMORY;
	for (size_t i = 0; i < n; i++) at[i] = (subscript(vector, i, kind) - lower) * stride;
	if (is_progression(at, n)) {
		if (n > 0)
			s->s.base += at[0];
		caf_side_add(s, (ptrdiff_t)n, n > 1 ? at[1] - at[0] : 0);
		free(at);
		return 0;
	}
	s->at[s->s.rank] = at;
	s->vector = true;
	caf_side_add(s, (ptrdiff_t)n, 0);
	return 0;
}

int caf_side_of(struct caf_side *s, char *base, const struct caf_desc *d,
	const struct caf_vector *vector, int kind)
{
	ptrdiff_t span = d->span ? d->span : (ptrdiff_t)d->dtype.elem_len;
	memset(s->at, 0, sizeof s->at);
	s->vector = s->subscripts = false;
	s->f = (struct caf_format){.type = d->dtype.type, .kind = kind, .elem = d->dtype.elem_len};
	if (!vector) {
		caf_section_of(&s->s, d);
		s->s.base = base;
		return 0;
	}
	s->s = (struct caf_section){.base = base, .elem = d->dtype.elem_len, .n = 1};
	int code = 0;
	for (int i = 0; i < d->dtype.rank && code == 0; i++) {
		ptrdiff_t stride = d->dim[i].stride * span, lower = d->dim[i].lower;
		if (vector[i].nvec) {
			code = caf_side_add_vector(s, vector[i].u.v.vector, vector[i].nvec,
				vector[i].u.v.kind, lower, stride);
			continue;
		}
		ptrdiff_t first = vector[i].u.triplet.lower, step = vector[i].u.triplet.stride;
		s->s.base += (first - lower) * stride;
		caf_side_add(s, step ? (vector[i].u.triplet.upper - first) / step + 1 : 1,
			stride * step);
	}
	if (code)
		caf_side_free(s);
	return code;
}

void caf_side_free(struct caf_side *s)
{
	if (!s->vector)
		return;
	for (int i = 0; i < CAF_MAX_RANK; i++) free(s->at[i]);
	memset(s->at, 0, sizeof s->at);
	s->vector = false;
}

/* Walks over the segments of a side. */
struct walk {
	const struct caf_side *side;
	int first;  /* outer dimensions */
	size_t run; /* bytes of a segment */
	ptrdiff_t index[CAF_MAX_RANK];
};

static void walk_start(struct walk *w, const struct caf_side *side)
{
	const struct caf_section *s = &side->s;
	*w = (struct walk){.side = side, .run = s->elem};
	for (; w->first < s->rank && !side->at[w->first]; w->first++) {
		if (s->count[w->first] != 1 && s->stride[w->first] != (ptrdiff_t)w->run)
			break;
		w->run *= (size_t)s->count[w->first];
	}
}

static char *walk_at(const struct walk *w)
{
	char *p = w->side->s.base;
	for (int i = w->first; i < w->side->s.rank; i++)
		p += w->side->at[i] ? w->side->at[i][w->index[i]] :
				      w->index[i] * w->side->s.stride[i];
	return p;
}

static void walk_next(struct walk *w)
{
	for (int i = w->first; i < w->side->s.rank; i++) {
		if (++w->index[i] < w->side->s.count[i])
			return;
		w->index[i] = 0;
	}
}

static int move_here(struct walk *w, bool put, size_t segments, char *packed)
{
	for (; segments > 0; segments--, packed += w->run) {
		char *at = walk_at(w);
		memcpy(put ? at : packed, put ? packed : at, w->run);
		walk_next(w);
	}
	return 0;
}

static int move(int rank, bool put, const struct caf_side *side, char *packed)
{
	struct walk w;
	walk_start(&w, side);
	size_t segments = side->s.n * side->s.elem / w.run,
	       most = segments < SEGMENTS ? segments : SEGMENTS;
	if (rank == caf.me)
		return move_here(&w, put, segments, packed);
	if (w.run > INT_MAX)
		return CAF_MOVE_MEMORY; /* memory as large as that does not exist twice */
	void **at = malloc(2 * most * sizeof *at);
	if (!at)
		return CAF_MOVE_MEMORY;
	int code = 0;
	while (segments > 0 && code == 0) {
		size_t n = segments < most ? segments : most;
		for (size_t i = 0; i < n; i++, packed += w.run) {
			at[i] = walk_at(&w);
			at[most + i] = packed;
			walk_next(&w);
		}
		code = caf_is_shared(rank, at[0]) ?
			CAF_MOVE_SHARED :
			caf_private_list(rank, put, at, n, w.run, at[most]);
		segments -= n;
		if (code != CAF_MOVE_SHARED)
			continue;
		armci_giov_t v = {.src_ptr_array = put ? at + most : at,
			.dst_ptr_array = put ? at : at + most,
			.ptr_array_len = (int)n,
			.bytes = (int)w.run};
		code = put ? ARMCI_PutV(&v, 1, rank) : ARMCI_GetV(&v, 1, rank);
	}
	free(at);
	return code;
}

int caf_put_vector(int rank, const struct caf_side *to, char *packed)
{
	return move(rank, true, to, packed);
}

int caf_get_vector(int rank, const struct caf_side *from, char *packed)
{
	return move(rank, false, from, packed);
}
