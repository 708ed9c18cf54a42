/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assignments to and from what a path through components leads to, and whole arrays that are
 * assigned to allocatable ones. Own allocatable objects get the shape of what is assigned; those of
 * other images only their image may reallocate.
 */
#include "caf.h"

struct object {
	struct caf_token *token;
	int image;
	const struct caf_ref *refs;
	int type, kind;
};

static int follow(struct caf_path *path, const struct object *o, int *rank)
{
	path->side.vector = false;
	int code = caf_access_rank(o->token, o->image, rank);
	return code ? code : caf_path_follow(path, o->token, *rank, o->refs, o->type, o->kind);
}

static bool same_shape(const struct caf_section *a, const struct caf_section *b)
{
	if (a->rank != b->rank)
		return false;
	for (int i = 0; i < a->rank; i++) {
		if (a->count[i] != b->count[i])
			return false;
	}
	return true;
}

/* Fetches a side as it is, into memory that begins at a buffer. */
static int fetch(int rank, const struct caf_side *from, struct caf_buffer *b,
	struct caf_section *got)
{
	if (!caf_buffer_get(b, from->s.n * from->s.elem))
		return CAF_MOVE_MEMORY;
	*got = caf_packed_like(b->p, &from->s);
	return caf_get_side(rank, from, got, &from->f, false);
}

/* What is assigned to an own allocatable object may be part of it, and is fetched before the object
 * is reallocated. */
static int get_and_fit(int rank, const struct caf_side *from, struct caf_desc *dst,
	const struct caf_format *tf)
{
	struct caf_buffer b;
	struct caf_section got, to;
	int code = fetch(rank, from, &b, &got);
	if (code == 0)
		code = caf_fit(dst, &got);
	if (code == 0) {
		caf_section_of(&to, dst);
		code = caf_assign(&to, tf, &got, &from->f);
	}
	caf_buffer_free(&b);
	return code;
}

static int get(const struct object *o, struct caf_desc *dst, int kind, bool may_overlap,
	bool reallocatable)
{
	struct caf_path path;
	struct caf_section to;
	int rank, code = follow(&path, o, &rank);
	struct caf_format tf = {.type = dst->dtype.type, .kind = kind, .elem = dst->dtype.elem_len};
	bool fit = code == 0 && reallocatable && path.side.s.rank == dst->dtype.rank;
	if (code == 0 && fit && rank == caf.me) {
		code = get_and_fit(rank, &path.side, dst, &tf);
	} else if (code == 0) {
		if (fit)
			code = caf_fit(dst, &path.side.s);
		caf_section_of(&to, dst);
		if (code == 0)
			code = caf_get_side(rank, &path.side, &to, &tf,
				may_overlap && rank == caf.me);
	}
	caf_side_free(&path.side);
	return code;
}

/* Whether the component must be given memory, or other memory, before the assignment. */
static bool needs_fit(const struct caf_path *path, const struct caf_section *from, int code)
{
	if (!path->whole)
		return false;
	if (code == CAF_MOVE_ABSENT)
		return true;
	return code == 0 && path->array && from->rank > 0 && !same_shape(&path->side.s, from);
}

/* Gives the own component at the end of the path the shape of `from`, which is moved to a buffer
 * because it may be part of it. */
static int refit(struct caf_path *path, const struct object *o, struct caf_section *from,
	struct caf_buffer *b)
{
	int rank;
	if (path->array && from->rank == 0)
		return CAF_MOVE_ABSENT;
	if (!caf_buffer_get(b, from->n * from->elem))
		return CAF_MOVE_MEMORY;
	struct caf_section packed = caf_packed_like(b->p, from);
	if (!caf_copy_section(&packed, from))
		return CAF_MOVE_MEMORY;
	*from = packed;
	int code = caf_fit_component(path, from, path->side.f.elem);
	caf_side_free(&path->side);
	return code ? code : follow(path, o, &rank);
}

static bool other_length(const struct caf_format *to, const struct caf_format *from)
{
	return to->type == CAF_CHARACTER && to->kind > 0 && from->kind > 0 &&
		to->elem / (size_t)to->kind != from->elem / (size_t)from->kind;
}

static int put(const struct object *o, const struct caf_section *source,
	const struct caf_format *ff, bool may_overlap)
{
	struct caf_path path;
	struct caf_section from = *source;
	struct caf_buffer b = {.p = b.small};
	int rank, code = follow(&path, o, &rank);
	if ((code == 0 || code == CAF_MOVE_ABSENT) && needs_fit(&path, &from, code))
		code = rank == caf.me ? refit(&path, o, &from, &b) : CAF_MOVE_REMOTE;
	if (code == 0 && path.deferred && other_length(&path.side.f, ff))
		code = CAF_MOVE_REMOTE;
	if (code == 0)
		code = caf_put_side(rank, &path.side, &from, ff, may_overlap && rank == caf.me);
	caf_side_free(&path.side);
	caf_buffer_free(&b);
	return code;
}

CAF_API void _gfortran_caf_get_by_ref(struct caf_token *t, int image, struct caf_desc *dst,
	struct caf_ref *refs, int dst_kind, int src_kind, bool may_require_tmp,
	bool dst_reallocatable, int *stat, int src_type)
{
	struct object o = {.token = t,
		.image = image,
		.refs = refs,
		.type = src_type,
		.kind = src_kind};
	int code = get(&o, dst, dst_kind, may_require_tmp, dst_reallocatable);
	if (likely(code == 0))
		caf_success(stat);
	else
		caf_move_error(code, stat, "get", image);
}

CAF_API void _gfortran_caf_send_by_ref(struct caf_token *t, int image, struct caf_desc *src,
	struct caf_ref *refs, int dst_kind, int src_kind, bool may_require_tmp,
	bool dst_reallocatable, int *stat, int dst_type)
{
	/* also true where only a part of an allocatable component is assigned */
	(void)dst_reallocatable;
	struct object o = {.token = t,
		.image = image,
		.refs = refs,
		.type = dst_type,
		.kind = dst_kind};
	struct caf_format ff = {.type = src->dtype.type,
		.kind = src_kind,
		.elem = src->dtype.elem_len};
	struct caf_section from;
	caf_section_of(&from, src);
	int code = put(&o, &from, &ff, may_require_tmp);
	if (likely(code == 0))
		caf_success(stat);
	else
		caf_move_error(code, stat, "put", image);
}

CAF_API void _gfortran_caf_sendget_by_ref(struct caf_token *dst_token, int dst_image,
	struct caf_ref *dst_refs, struct caf_token *src_token, int src_image,
	struct caf_ref *src_refs, int dst_kind, int src_kind, bool may_require_tmp, int *dst_stat,
	int *src_stat, int dst_type, int src_type)
{
	(void)may_require_tmp; /* there is a temporary */
	struct object src = {.token = src_token,
		.image = src_image,
		.refs = src_refs,
		.type = src_type,
		.kind = src_kind};
	struct object dst = {.token = dst_token,
		.image = dst_image,
		.refs = dst_refs,
		.type = dst_type,
		.kind = dst_kind};
	struct caf_path path;
	struct caf_buffer b = {.p = b.small};
	struct caf_section got;
	int rank, code = follow(&path, &src, &rank);
	if (code == 0)
		code = fetch(rank, &path.side, &b, &got);
	if (code) {
		caf_move_error(code, src_stat, "get", src_image);
	} else {
		caf_success(src_stat);
		code = put(&dst, &got, &path.side.f, false);
		if (code)
			caf_move_error(code, dst_stat, "put", dst_image);
		else
			caf_success(dst_stat);
	}
	caf_side_free(&path.side);
	caf_buffer_free(&b);
}
