/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sections of arrays, and their way between own memory and another image's: one strided ARMCI
 * operation, of rows that are as long as the shapes allow. What ARMCI cannot describe on the own
 * side (strides that are negative or 0) passes through packed memory.
 */
#include <limits.h>
#include <string.h>

#include "caf.h"

void caf_section_of(struct caf_section *s, const struct caf_desc *d)
{
	ptrdiff_t span = d->span ? d->span : (ptrdiff_t)d->dtype.elem_len;
	s->base = d->base;
	s->elem = d->dtype.elem_len;
	s->rank = d->dtype.rank;
	s->n = 1;
	for (int i = 0; i < s->rank; i++) {
		ptrdiff_t count = d->dim[i].upper - d->dim[i].lower + 1;
		s->count[i] = count > 0 ? count : 0;
		s->stride[i] = d->dim[i].stride * span;
		s->n *= (size_t)s->count[i];
	}
}

struct caf_section caf_packed(void *base, size_t elem, size_t n)
{
	return (struct caf_section){.base = base,
		.elem = elem,
		.rank = 1,
		.count = {(ptrdiff_t)n},
		.stride = {(ptrdiff_t)elem},
		.n = n};
}

struct caf_section caf_packed_like(void *base, const struct caf_section *like)
{
	struct caf_section s = *like;
	ptrdiff_t stride = (ptrdiff_t)s.elem;
	s.base = base;
	for (int i = 0; i < s.rank; stride *= s.count[i++]) s.stride[i] = stride;
	return s;
}

struct caf_section caf_repeated(void *base, const struct caf_section *like)
{
	struct caf_section s = *like;
	s.base = base;
	memset(s.stride, 0, sizeof s.stride);
	return s;
}

bool caf_contiguous(const struct caf_section *s)
{
	ptrdiff_t next = (ptrdiff_t)s->elem;
	for (int i = 0; i < s->rank; i++) {
		if (s->count[i] != 1 && s->stride[i] != next)
			return false;
		next *= s->count[i];
	}
	return true;
}

/* One call of ARMCI, and the loops around it where numbers of levels, counts or strides are beyond
 * it. */
struct strided {
	const struct caf_levels *v;
	int rank;
	bool put;
	int first; /* level of count[1] */
	int count[ARMCI_MAX_STRIDE_LEVEL + 1], to[ARMCI_MAX_STRIDE_LEVEL],
		from[ARMCI_MAX_STRIDE_LEVEL];
};

static int strided_call(struct strided *s, int levels, char *to, char *from)
{
	if (s->put)
		return ARMCI_PutS(from, s->from, to, s->to, s->count, levels, s->rank);
	return ARMCI_GetS(from, s->from, to, s->to, s->count, levels, s->rank);
}

/* Levels [first, top) of which the call takes those up to `call`. */
static int strided_loop(struct strided *s, int top, int call, char *to, char *from)
{
	if (top == call)
		return strided_call(s, call - s->first, to, from);
	const struct caf_levels *v = s->v;
	int code = 0;
	top--;
	for (ptrdiff_t i = 0; i < v->count[top] && code == 0; i++)
		code = strided_loop(s, top, call, to + i * v->to_stride[top],
			from + i * v->from_stride[top]);
	return code;
}

/* Runs that are longer than an int says: by pieces. */
static int long_run(const struct strided *s, char *to, char *from, size_t bytes)
{
	int code = 0;
	while (bytes > 0 && code == 0) {
		int part = bytes > 1 << 30 ? 1 << 30 : (int)bytes;
		code = s->put ? ARMCI_Put(from, to, part, s->rank) :
				ARMCI_Get(from, to, part, s->rank);
		to += part;
		from += part;
		bytes -= (size_t)part;
	}
	return code;
}

/* Strides must be positive. */
static int strided(const struct caf_levels *v, int rank, bool put)
{
	struct strided s = {.v = v, .rank = rank, .put = put};
	size_t run = v->elem;
	if (v->n > 0 && v->to_stride[0] == (ptrdiff_t)run && v->from_stride[0] == (ptrdiff_t)run) {
		run *= (size_t)v->count[0];
		s.first = 1;
	}
	if (v->n == s.first)
		return long_run(&s, v->to, v->from, run);
	if (run > INT_MAX) {
		struct caf_levels inner = *v;
		int code = 0;
		inner.n--;
		for (ptrdiff_t i = 0; i < v->count[inner.n] && code == 0; i++) {
			code = strided(&inner, rank, put);
			inner.to += v->to_stride[inner.n];
			inner.from += v->from_stride[inner.n];
		}
		return code;
	}
	s.count[0] = (int)run;
	int call = s.first;
	for (; call < v->n && call - s.first < ARMCI_MAX_STRIDE_LEVEL; call++) {
		if (v->count[call] > INT_MAX || v->to_stride[call] > INT_MAX ||
			v->from_stride[call] > INT_MAX)
			break;
		s.count[call - s.first + 1] = (int)v->count[call];
		s.to[call - s.first] = (int)v->to_stride[call];
		s.from[call - s.first] = (int)v->from_stride[call];
	}
	return strided_loop(&s, v->n, call, v->to, v->from);
}

/* Turns the dimensions round in which the other image's stride is negative. True: both sides are
 * now as ARMCI wants them. */
static bool turn(struct caf_levels *v, bool put)
{
	ptrdiff_t *remote = put ? v->to_stride : v->from_stride,
		  *own = put ? v->from_stride : v->to_stride;
	bool fits = true;
	for (int i = 0; i < v->n; i++) {
		if (remote[i] < 0) {
			v->to += (v->count[i] - 1) * v->to_stride[i];
			v->from += (v->count[i] - 1) * v->from_stride[i];
			v->to_stride[i] = -v->to_stride[i];
			v->from_stride[i] = -v->from_stride[i];
		}
		fits &= own[i] > 0;
	}
	return fits;
}

/* One side of the levels, as a section in their order. */
static struct caf_section level_section(const struct caf_levels *v, bool to, size_t n)
{
	struct caf_section s = {.base = to ? v->to : v->from,
		.elem = v->elem,
		.rank = v->n,
		.n = n};
	memcpy(s.count, v->count, (size_t)v->n * sizeof *v->count);
	memcpy(s.stride, to ? v->to_stride : v->from_stride, (size_t)v->n * sizeof *v->count);
	return s;
}

static int move(int rank, bool put, const struct caf_section *to, const struct caf_section *from);

/* The own side through memory that is packed in the order of the sections. */
static int through_packed(int rank, bool put, const struct caf_section *to,
	const struct caf_section *from)
{
	struct caf_buffer b;
	if (!caf_buffer_get(&b, to->n * to->elem))
		return CAF_MOVE_MEMORY;
	struct caf_section packed = caf_packed(b.p, to->elem, to->n);
	int code;
	if (put) {
		code = caf_copy_section(&packed, from) ? move(rank, put, to, &packed) :
							 CAF_MOVE_MEMORY;
	} else {
		code = move(rank, put, &packed, from);
		if (code == 0 && !caf_copy_section(to, &packed))
			code = CAF_MOVE_MEMORY;
	}
	caf_buffer_free(&b);
	return code;
}

static int move(int rank, bool put, const struct caf_section *to, const struct caf_section *from)
{
	struct caf_levels v;
	if (to->n == 0)
		return 0;
	if (rank == caf.me) /* a pointer component may point to any own memory */
		return caf_copy_section(to, from) ? 0 : CAF_MOVE_MEMORY;
	const struct caf_section *there = put ? to : from, *own = put ? from : to;
	if (unlikely(!caf_is_shared(rank, there->base))) {
		if (!caf_contiguous(own))
			return through_packed(rank, put, to, from);
		int code = caf_private_section(rank, put, there, own->base);
		if (code != CAF_MOVE_SHARED)
			return code;
	}
	if (!caf_levels_of(&v, to, from) || v.n > CAF_MAX_RANK)
		return through_packed(rank, put, to, from);
	if (turn(&v, put))
		return strided(&v, rank, put);
	/* In the order of the levels the other image's strides are positive now, so that this does
	 * not come back here. */
	struct caf_section turned_to = level_section(&v, true, to->n),
			   turned_from = level_section(&v, false, to->n);
	return through_packed(rank, put, &turned_to, &turned_from);
}

int caf_put_section(int rank, const struct caf_section *to, const struct caf_section *from)
{
	return move(rank, true, to, from);
}

int caf_get_section(int rank, const struct caf_section *from, const struct caf_section *to)
{
	return move(rank, false, to, from);
}
