/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths through components: `x[2]%list(3)%values(1:9)`. Allocatable and pointer components are read
 * from the image's memory, which holds their addresses there. At most one step of a path has a
 * rank, and no component behind it is allocatable or a pointer (Fortran says so), so that a path
 * leads to one section, or to one with vector subscripts.
 */
#include <string.h>

#include "caf.h"

/* Where the walk is. */
struct walk {
	struct caf_path *path;
	int rank;
	const struct caf_desc *d; /* of the array that is reached, if it has one */
	size_t elem;
};

static int read_there(int rank, char *at, void *to, size_t bytes)
{
	if (rank == caf.me) {
		memcpy(to, at, bytes);
		return 0;
	}
	if (likely(caf_is_shared(rank, at)))
		return ARMCI_Get(at, to, (int)bytes, rank);
	struct caf_section from = caf_packed(at, bytes, 1), here = caf_packed(to, bytes, 1);
	return caf_get_section(rank, &from, &here);
}

static int dimensions(const struct caf_ref *r)
{
	int n = 0;
	while (n < CAF_MAX_RANK && r->u.a.mode[n] != CAF_ARR_NONE) n++;
	return n;
}

/* An array reference means all of the array. */
static bool is_whole(const struct caf_ref *r)
{
	for (int i = 0; i < dimensions(r); i++) {
		if (r->u.a.mode[i] != CAF_ARR_FULL || r->u.a.dim[i].s.stride != 1)
			return false;
	}
	return true;
}

/* Goes on to the memory of an allocatable or pointer component. */
static int enter(struct walk *w, const struct caf_ref *r)
{
	struct caf_path *path = w->path;
	const struct caf_ref *next = r->next;
	char *base;
	int code;
	path->deferred = r->item_size == 0;
	path->holder = path->side.s.base;
	path->token = path->holder - r->u.c.offset + r->u.c.token_offset;
	path->array = next && next->type == CAF_REF_ARRAY;
	path->whole = path->array ? !next->next && is_whole(next) : !next;
	w->d = NULL;
	if (path->array) {
		size_t bytes = offsetof(struct caf_desc, dim) +
			(size_t)dimensions(next) * sizeof(struct caf_dim);
		code = read_there(w->rank, path->holder, &path->d, bytes);
		base = path->d.base;
		w->d = &path->d;
	} else {
		code = read_there(w->rank, path->holder, &base, sizeof base);
	}
	if (code)
		return code;
	path->side.s.base = base;
	if (!base)
		return CAF_MOVE_ABSENT;
	/* The compiler does not say the length of a deferred-length string: it stands behind the
	 * pointer, or in the descriptor. */
	if (w->elem == 0 && path->array)
		w->elem = path->d.dtype.elem_len;
	else if (w->elem == 0 &&
		r->u.c.token_offset - r->u.c.offset >= (ptrdiff_t)(2 * sizeof(size_t)))
		return read_there(w->rank, path->holder + sizeof base, &w->elem, sizeof w->elem);
	return 0;
}

static int component(struct walk *w, const struct caf_ref *r)
{
	w->path->side.s.base += r->u.c.offset;
	w->elem = r->item_size;
	w->d = NULL;
	return r->u.c.token_offset ? enter(w, r) : 0;
}

static void add_range(struct caf_side *s, ptrdiff_t first, ptrdiff_t last, ptrdiff_t step,
	ptrdiff_t lower, ptrdiff_t stride)
{
	s->s.base += (first - lower) * stride;
	caf_side_add(s, step ? (last - first) / step + 1 : 1, stride * step);
}

/* One dimension of an array with a descriptor; `span`: bytes that a stride of 1 is. */
static int dimension(struct caf_side *s, const struct caf_ref *r, int i, const struct caf_dim *d,
	ptrdiff_t span)
{
	ptrdiff_t first = r->u.a.dim[i].s.start, last = r->u.a.dim[i].s.end,
		  step = r->u.a.dim[i].s.stride;
	ptrdiff_t stride = d->stride * span;
	switch (r->u.a.mode[i]) {
	case CAF_ARR_VECTOR:
		return caf_side_add_vector(s, r->u.a.dim[i].v.vector, r->u.a.dim[i].v.nvec,
			r->u.a.dim[i].v.kind, d->lower, stride);
	case CAF_ARR_FULL:
		add_range(s, d->lower, d->upper, step, d->lower, stride);
		return 0;
	case CAF_ARR_RANGE:
		add_range(s, first, last, step, d->lower, stride);
		return 0;
	case CAF_ARR_SINGLE:
		s->s.base += (first - d->lower) * stride;
		return 0;
	case CAF_ARR_OPEN_END:
		add_range(s, first, d->upper, step, d->lower, stride);
		return 0;
	case CAF_ARR_OPEN_START:
		add_range(s, d->lower, last, step, d->lower, stride);
		return 0;
	default:
		return CAF_MOVE_PATH;
	}
}

static int array(struct walk *w, const struct caf_ref *r)
{
	if (!w->d)
		return CAF_MOVE_PATH;
	const struct caf_desc *d = w->d;
	ptrdiff_t span = d->span ? d->span : (ptrdiff_t)r->item_size;
	int code = 0;
	for (int i = 0; i < dimensions(r) && code == 0; i++)
		code = dimension(&w->path->side, r, i, &d->dim[i], span);
	w->d = NULL;
	if (r->item_size)
		w->elem = r->item_size;
	return code;
}

/* An array of constant shape: bounds and strides are elements of all of it, from 0. */
static int static_array(struct walk *w, const struct caf_ref *r)
{
	struct caf_side *s = &w->path->side;
	ptrdiff_t elem = (ptrdiff_t)r->item_size;
	w->elem = r->item_size;
	for (int i = 0; i < dimensions(r); i++) {
		ptrdiff_t first = r->u.a.dim[i].s.start, last = r->u.a.dim[i].s.end,
			  step = r->u.a.dim[i].s.stride;
		switch (r->u.a.mode[i]) {
		case CAF_ARR_SINGLE:
			s->s.base += first * elem;
			break;
		case CAF_ARR_FULL:
		case CAF_ARR_RANGE:
			add_range(s, first, last, step, 0, elem);
			break;
		default: /* the compiler does not say enough */
			return CAF_MOVE_PATH;
		}
	}
	return 0;
}

int caf_path_follow(struct caf_path *path, struct caf_token *t, int rank,
	const struct caf_ref *refs, int type, int kind)
{
	struct walk w = {.path = path, .rank = rank, .d = t->desc};
	path->side.s = (struct caf_section){.base = t->at[rank], .n = 1};
	memset(path->side.at, 0, sizeof path->side.at);
	path->side.vector = path->side.subscripts = false;
	path->holder = path->token = NULL;
	path->array = path->whole = path->deferred = false;
	int code = 0;
	for (const struct caf_ref *r = refs; r && code == 0; r = r->next) {
		if (r->type == CAF_REF_COMPONENT)
			code = component(&w, r);
		else
			code = r->type == CAF_REF_ARRAY ? array(&w, r) : static_array(&w, r);
	}
	path->side.s.elem = w.elem;
	path->side.f = (struct caf_format){.type = type, .kind = kind, .elem = w.elem};
	return code;
}

/* Whether the component at the end of the path is allocated or associated. */
CAF_API int _gfortran_caf_is_present(struct caf_token *t, int image, struct caf_ref *refs)
{
	struct caf_path path;
	int rank, code = caf_access_rank(t, image, &rank);
	if (code) {
		caf_move_error(code, NULL, "get", image);
		return 0;
	}
	code = caf_path_follow(&path, t, rank, refs, CAF_DERIVED, 0);
	caf_side_free(&path.side);
	if (code && code != CAF_MOVE_ABSENT)
		caf_move_error(code, NULL, "get", image);
	return code == 0;
}
