/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assignments to and from another image's coarray. A statement whose sides are one run of bytes each is one call of ARMCI, before
 * anything else is looked at. The compiler describes the remote side by the section of the own image that it corresponds to:
 * `offset` is where that begins in the coarray.
 */
#include <limits.h>

#include "caf.h"

static bool same_elements(const struct caf_desc *a, const struct caf_desc *b)
{
	return a->dtype.elem_len == b->dtype.elem_len && a->dtype.rank == b->dtype.rank && a->dtype.type == b->dtype.type;
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

/* Bytes of two sides that are one run each and need no conversion; 0: they are not, or are too much for one call. */
static inline size_t plain_bytes(const struct caf_desc *a, const struct caf_desc *b, int kind_a, int kind_b)
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
	if (*caf.ended && caf_state(*rank) == CAF_FAILED_IMAGE)
		return CAF_MOVE_FAILED;
	return t->at[*rank] ? 0 : CAF_MOVE_TOKEN;
}

int caf_access_rank(const struct caf_token *t, int image, int *rank) { return find_rank(t, caf.current, image, rank); }

static int get(struct caf_token *t, size_t offset, int image, const struct caf_desc *src, const struct caf_vector *vector,
	const struct caf_desc *dst, int src_kind, int dst_kind, bool may_overlap)
{
	struct caf_side from;
	struct caf_section to;
	int rank, code = find_rank(t, caf.current, image, &rank);
	if (code == 0)
		code = caf_side_of(&from, caf_at(t, rank, offset), src, vector, src_kind);
	if (code)
		return code;
	caf_section_of(&to, dst);
	struct caf_format tf = {.type = dst->dtype.type, .kind = dst_kind, .elem = dst->dtype.elem_len};
	code = caf_get_side(rank, &from, &to, &tf, may_overlap && rank == caf.me);
	caf_side_free(&from);
	return code;
}

static int put(struct caf_token *t, size_t offset, const struct caf_team *team, int image, const struct caf_desc *dst,
	const struct caf_vector *vector, const struct caf_desc *src, int dst_kind, int src_kind, bool may_overlap)
{
	struct caf_side to;
	struct caf_section from;
	int rank, code = find_rank(t, team, image, &rank);
	if (code == 0)
		code = caf_side_of(&to, caf_at(t, rank, offset), dst, vector, dst_kind);
	if (code)
		return code;
	caf_section_of(&from, src);
	struct caf_format ff = {.type = src->dtype.type, .kind = src_kind, .elem = src->dtype.elem_len};
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

CAF_API void _gfortran_caf_get(struct caf_token *t, size_t offset, int image, struct caf_desc *src, struct caf_vector *src_vector,
	struct caf_desc *dst, int src_kind, int dst_kind, bool may_require_tmp, int *stat)
{
	int rank = caf_rank(image), code;
	size_t bytes = plain_bytes(src, dst, src_kind, dst_kind);
	if (likely(bytes && t && rank >= 0 && !src_vector && !*caf.ended && !(may_require_tmp && rank == caf.me)))
		code = ARMCI_Get(caf_at(t, rank, offset), dst->base, (int)bytes, rank);
	else
		code = get(t, offset, image, src, src_vector, dst, src_kind, dst_kind, may_require_tmp);
	finish(code, stat, "get", image);
}

/* team: of TEAM=, the address of its handle. */
CAF_API void _gfortran_caf_send(struct caf_token *t, size_t offset, int image, struct caf_desc *dst, struct caf_vector *dst_vector,
	struct caf_desc *src, int dst_kind, int src_kind, bool may_require_tmp, int *stat, void **team)
{
	int rank = caf_rank(image), code;
	size_t bytes = plain_bytes(dst, src, dst_kind, src_kind);
	if (likely(bytes && t && rank >= 0 && !dst_vector && !team && !*caf.ended && !(may_require_tmp && rank == caf.me)))
		code = ARMCI_Put(src->base, caf_at(t, rank, offset), (int)bytes, rank);
	else
		code = put(t, offset, team ? caf_access_team(team, NULL) : caf.current, image, dst, dst_vector, src, dst_kind, src_kind,
			may_require_tmp);
	finish(code, stat, "put", image);
}

/* An assignment between two coindexed objects: what is not on this image comes here first. */
CAF_API void _gfortran_caf_sendget(struct caf_token *dst_token, size_t dst_offset, int dst_image, struct caf_desc *dst,
	struct caf_vector *dst_vector, struct caf_token *src_token, size_t src_offset, int src_image, struct caf_desc *src,
	struct caf_vector *src_vector, int dst_kind, int src_kind, bool may_require_tmp, int *stat)
{
	(void)may_require_tmp;
	struct caf_side from;
	struct caf_buffer b;
	int rank, code = find_rank(src_token, caf.current, src_image, &rank);
	if (code == 0)
		code = caf_side_of(&from, caf_at(src_token, rank, src_offset), src, src_vector, src_kind);
	if (code) {
		caf_move_error(code, stat, "get", src_image);
		return;
	}
	struct caf_section got = caf_packed(NULL, from.s.elem, from.s.n);
	got.rank = from.s.rank > 0; /* of rank 0 it is assigned to each element of an array */
	if (!caf_buffer_get(&b, got.n * got.elem))
		code = CAF_MOVE_MEMORY;
	got.base = b.p;
	if (code == 0)
		code = caf_get_side(rank, &from, &got, &from.f, false);
	const char *what = code ? "get" : "put";
	struct caf_side to;
	if (code == 0)
		code = find_rank(dst_token, caf.current, dst_image, &rank);
	if (code == 0)
		code = caf_side_of(&to, caf_at(dst_token, rank, dst_offset), dst, dst_vector, dst_kind);
	if (code == 0) {
		code = caf_put_side(rank, &to, &got, &from.f, false);
		caf_side_free(&to);
	}
	caf_side_free(&from);
	caf_buffer_free(&b);
	finish(code, stat, what, *what == 'g' ? src_image : dst_image);
}
