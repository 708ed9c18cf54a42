/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assignments to and from another image's coarray. A statement whose sides are one run of bytes
 * each is one call of ARMCI, before anything else is looked at. The compiler describes the remote
 * side by the section of the own image that it corresponds to: `offset` is where that begins in the
 * coarray.
 */
#include <limits.h>

#include "caf.h"

enum { SMALL = 256 };

static bool same_elements(const struct caf_desc *a, const struct caf_desc *b)
{
	return a->dtype.elem_len == b->dtype.elem_len && a->dtype.rank == b->dtype.rank &&
		a->dtype.type == b->dtype.type;
}

static bool is_one_run(const struct caf_desc *d, size_t *elements)
{
	ptrdiff_t n = 1;
	if (d->span != (ptrdiff_t)d->dtype.elem_len)
		return false;
	for (int i = 0; i < d->dtype.rank; i++) {
		ptrdiff_t count = d->dim[i].upper - d->dim[i].lower + 1;
		if (count <= 0 || (count > 1 && d->dim[i].stride != n))
			return false;
		n *= count;
	}
	*elements = (size_t)n;
	return true;
}

/* Bytes of two sides that are one run each and need no conversion; 0: they are not, or are too much
 * for one call. */
static inline size_t plain_bytes(const struct caf_desc *a, const struct caf_desc *b, int kind_a,
	int kind_b)
{
	size_t bytes = a->dtype.elem_len, n, m;
	if (!same_elements(a, b) || kind_a != kind_b)
		return 0;
	if (a->dtype.rank > 0) {
		if (!is_one_run(a, &n) || !is_one_run(b, &m) || n != m)
			return 0;
		bytes *= n;
	}
	return bytes <= INT_MAX ? bytes : 0;
}

/* The rank of an image; else why there is no access to it. */
static int find_rank(const struct caf_token *t, const struct caf_team *team, int image, int *rank)
{
	if (!t || !t->at)
		return CAF_MOVE_TOKEN;
	if (!team || (unsigned)(image - 1) >= (unsigned)team->n)
		return CAF_MOVE_IMAGE;
	*rank = team->rank[image - 1];
	if (caf_ended() && caf_state(*rank) == CAF_FAILED_IMAGE)
		return CAF_MOVE_FAILED;
	return t->at[*rank] ? 0 : CAF_MOVE_TOKEN;
}

int caf_access_rank(const struct caf_token *t, int image, int *rank)
{
	return find_rank(t, caf.current, image, rank);
}

/* One element that must be converted. */
static int get_scalar(char *at, int rank, const struct caf_desc *src, int src_kind,
	const struct caf_desc *dst, int dst_kind)
{
	struct caf_format to = {.type = dst->dtype.type,
		.kind = dst_kind,
		.elem = dst->dtype.elem_len};
	struct caf_format from = {.type = src->dtype.type,
		.kind = src_kind,
		.elem = src->dtype.elem_len};
	_Alignas(16) char element[SMALL];
	int code = from.elem ? ARMCI_Get(at, element, (int)from.elem, rank) : 0;
	return code                                               ? code :
		caf_convert(dst->base, &to, element, &from, 0, 1) ? 0 :
								    CAF_MOVE_CONVERSION;
}

static int put_scalar(char *at, int rank, const struct caf_desc *dst, int dst_kind,
	const struct caf_desc *src, int src_kind)
{
	struct caf_format to = {.type = dst->dtype.type,
		.kind = dst_kind,
		.elem = dst->dtype.elem_len};
	struct caf_format from = {.type = src->dtype.type,
		.kind = src_kind,
		.elem = src->dtype.elem_len};
	_Alignas(16) char element[SMALL];
	if (!caf_convert(element, &to, src->base, &from, 0, 1))
		return CAF_MOVE_CONVERSION;
	return to.elem ? ARMCI_Put(element, at, (int)to.elem, rank) : 0;
}

static bool are_small_scalars(const struct caf_desc *a, const struct caf_desc *b)
{
	return a->dtype.rank == 0 && b->dtype.rank == 0 && a->dtype.elem_len <= SMALL &&
		b->dtype.elem_len <= SMALL;
}

static int get(struct caf_token *t, size_t offset, int image, const struct caf_desc *src,
	const struct caf_vector *vector, const struct caf_desc *dst, int src_kind, int dst_kind,
	bool may_overlap)
{
	struct caf_side from;
	struct caf_section to;
	int rank, code = find_rank(t, caf.current, image, &rank);
	if (code == 0 && !vector && are_small_scalars(src, dst))
		return get_scalar(caf_at(t, rank, offset), rank, src, src_kind, dst, dst_kind);
	if (code == 0)
		code = caf_side_of(&from, caf_at(t, rank, offset), src, vector, src_kind);
	if (code)
		return code;
	caf_section_of(&to, dst);
	struct caf_format tf = {.type = dst->dtype.type,
		.kind = dst_kind,
		.elem = dst->dtype.elem_len};
	code = caf_get_side(rank, &from, &to, &tf, may_overlap && rank == caf.me);
	caf_side_free(&from);
	return code;
}

static int put(struct caf_token *t, size_t offset, const struct caf_team *team, int image,
	const struct caf_desc *dst, const struct caf_vector *vector, const struct caf_desc *src,
	int dst_kind, int src_kind, bool may_overlap)
{
	struct caf_side to;
	struct caf_section from;
	int rank, code = find_rank(t, team, image, &rank);
	if (code == 0 && !vector && are_small_scalars(src, dst))
		return put_scalar(caf_at(t, rank, offset), rank, dst, dst_kind, src, src_kind);
	if (code == 0)
		code = caf_side_of(&to, caf_at(t, rank, offset), dst, vector, dst_kind);
	if (code)
		return code;
	caf_section_of(&from, src);
	struct caf_format ff = {.type = src->dtype.type,
		.kind = src_kind,
		.elem = src->dtype.elem_len};
	code = caf_put_side(rank, &to, &from, &ff, may_overlap && rank == caf.me);
	caf_side_free(&to);
	return code;
}

static inline void finish(int code, int *stat, const char *what, int image)
{
	if (likely(code == 0))
		caf_success(stat);
	else
		caf_move_error(code, stat, what, image);
}

/* Where a scalar of another image of the node is: its memory can be loaded and stored. Null: the
 * access is not so plain. */
static inline char *near_scalar(const struct caf_token *t, size_t offset, int image,
	const struct caf_desc *a, const struct caf_desc *b, int kind_a, int kind_b)
{
	int rank = caf_rank(image);
	if (unlikely(rank < 0 || !caf.near[rank] || (a->dtype.rank | b->dtype.rank) != 0 ||
		    a->dtype.type != b->dtype.type || kind_a != kind_b ||
		    a->dtype.elem_len != b->dtype.elem_len || caf_ended() || !t || !t->at ||
		    offset >= t->bytes || a->dtype.elem_len > t->bytes - offset))
		return NULL;
	return caf_at(t, rank, offset);
}

/* False: a size that no register has. Aligned values are moved at once. */
static inline bool move_scalar(void *to, const void *from, size_t bytes)
{
	switch (bytes) {
	case 8:
		memcpy(to, from, 8);
		return true;
	case 4:
		memcpy(to, from, 4);
		return true;
	case 16:
		memcpy(to, from, 16);
		return true;
	case 1:
		memcpy(to, from, 1);
		return true;
	case 2:
		memcpy(to, from, 2);
		return true;
	default:
		return false;
	}
}

static __attribute__((noinline)) void get_any(struct caf_token *t, size_t offset, int image,
	struct caf_desc *src, struct caf_vector *src_vector, struct caf_desc *dst, int src_kind,
	int dst_kind, bool may_require_tmp, int *stat)
{
	int rank = caf_rank(image), code;
	size_t bytes = plain_bytes(src, dst, src_kind, dst_kind);
	if (likely(bytes && t && rank >= 0 && !src_vector && !caf_ended() &&
		    !(may_require_tmp && rank == caf.me)))
		code = ARMCI_Get(caf_at(t, rank, offset), dst->base, (int)bytes, rank);
	else
		code = get(t, offset, image, src, src_vector, dst, src_kind, dst_kind,
			may_require_tmp);
	finish(code, stat, "get", image);
}

CAF_API void _gfortran_caf_get(struct caf_token *t, size_t offset, int image, struct caf_desc *src,
	struct caf_vector *src_vector, struct caf_desc *dst, int src_kind, int dst_kind,
	bool may_require_tmp, int *stat)
{
	char *at = near_scalar(t, offset, image, src, dst, src_kind, dst_kind);
	if (likely(at && !src_vector && move_scalar(dst->base, at, dst->dtype.elem_len)))
		caf_success(stat);
	else
		get_any(t, offset, image, src, src_vector, dst, src_kind, dst_kind, may_require_tmp,
			stat);
}

static __attribute__((noinline)) void send_any(struct caf_token *t, size_t offset, int image,
	struct caf_desc *dst, struct caf_vector *dst_vector, struct caf_desc *src, int dst_kind,
	int src_kind, bool may_require_tmp, int *stat, void **team)
{
	int rank = caf_rank(image), code;
	size_t bytes = plain_bytes(dst, src, dst_kind, src_kind);
	if (likely(bytes && t && rank >= 0 && !dst_vector && !team && !caf_ended() &&
		    !(may_require_tmp && rank == caf.me)))
		code = ARMCI_Put(src->base, caf_at(t, rank, offset), (int)bytes, rank);
	else
		code = put(t, offset, team ? caf_access_team(team, NULL) : caf.current, image, dst,
			dst_vector, src, dst_kind, src_kind, may_require_tmp);
	finish(code, stat, "put", image);
}

/* team: of TEAM=, the address of its handle. */
CAF_API void _gfortran_caf_send(struct caf_token *t, size_t offset, int image, struct caf_desc *dst,
	struct caf_vector *dst_vector, struct caf_desc *src, int dst_kind, int src_kind,
	bool may_require_tmp, int *stat, void **team)
{
	char *at = near_scalar(t, offset, image, dst, src, dst_kind, src_kind);
	if (likely(at && !dst_vector && !team && move_scalar(at, src->base, src->dtype.elem_len)))
		caf_success(stat);
	else
		send_any(t, offset, image, dst, dst_vector, src, dst_kind, src_kind,
			may_require_tmp, stat, team);
}

/* One side of an assignment between two coindexed objects. */
struct object {
	struct caf_token *token;
	size_t offset;
	int image, rank;
	const struct caf_desc *d;
	const struct caf_vector *vector;
	int kind;
};

static int side_of(struct caf_side *s, struct object *o)
{
	int code = find_rank(o->token, caf.current, o->image, &o->rank);
	return code ?
		code :
		caf_side_of(s, caf_at(o->token, o->rank, o->offset), o->d, o->vector, o->kind);
}

/* Assigns own memory to a side. */
static int put_from(struct object *dst, const struct caf_section *from, const struct caf_format *ff)
{
	struct caf_side to;
	int code = side_of(&to, dst);
	if (code)
		return code;
	code = caf_put_side(dst->rank, &to, from, ff, false);
	caf_side_free(&to);
	return code;
}

static int fetch(const struct object *src, const struct caf_side *from, struct caf_buffer *b,
	struct caf_section *got)
{
	if (!caf_buffer_get(b, from->s.n * from->s.elem))
		return CAF_MOVE_MEMORY;
	*got = caf_packed_like(b->p, &from->s);
	return caf_get_side(src->rank, from, got, &from->f, false);
}

/* What is not in own memory, or may be the destination, comes here first. */
CAF_API void _gfortran_caf_sendget(struct caf_token *dst_token, size_t dst_offset, int dst_image,
	struct caf_desc *dst_desc, struct caf_vector *dst_vector, struct caf_token *src_token,
	size_t src_offset, int src_image, struct caf_desc *src_desc, struct caf_vector *src_vector,
	int dst_kind, int src_kind, bool may_require_tmp, int *stat)
{
	struct object dst = {dst_token, dst_offset, dst_image, -1, dst_desc, dst_vector, dst_kind};
	struct object src = {src_token, src_offset, src_image, -1, src_desc, src_vector, src_kind};
	struct caf_side from;
	int code = side_of(&from, &src);
	if (code) {
		caf_move_error(code, stat, "get", src_image);
		return;
	}
	if (src.rank == caf.me && !from.vector && !(may_require_tmp && src_image == dst_image)) {
		finish(put_from(&dst, &from.s, &from.f), stat, "put", dst_image);
		return;
	}
	struct caf_buffer b;
	struct caf_section got;
	code = fetch(&src, &from, &b, &got);
	if (code)
		caf_move_error(code, stat, "get", src_image);
	else
		finish(put_from(&dst, &got, &from.f), stat, "put", dst_image);
	caf_side_free(&from);
	caf_buffer_free(&b);
}
