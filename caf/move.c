/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One assignment between own memory and another image's, whatever its sides: with vector
 * subscripts, conversion, broadcast of one element, or overlap on the own image. All of them are
 * done on the own side, so that there is one remote operation.
 */
#include "caf.h"

/* Assigns a section to packed memory, row by row. */
static bool convert_rows(char *to, const struct caf_format *tf, const struct caf_section *from,
	const struct caf_format *ff)
{
	ptrdiff_t index[CAF_MAX_RANK] = {0};
	size_t row = from->rank > 0 ? (size_t)from->count[0] : 1;
	for (size_t done = 0; done < from->n; done += row, to += row * tf->elem) {
		const char *p = from->base;
		for (int i = 1; i < from->rank; i++) p += index[i] * from->stride[i];
		if (!caf_convert(to, tf, p, ff, from->rank > 0 ? from->stride[0] : 0, row))
			return false;
		for (int i = 1; i < from->rank && ++index[i] == from->count[i]; i++) index[i] = 0;
	}
	return true;
}

int caf_assign(const struct caf_section *to, const struct caf_format *tf,
	const struct caf_section *from, const struct caf_format *ff)
{
	if (caf_same_format(tf, ff))
		return caf_copy_section(to, from) ? 0 : CAF_MOVE_MEMORY;
	if (caf_contiguous(to))
		return convert_rows(to->base, tf, from, ff) ? 0 : CAF_MOVE_CONVERSION;
	struct caf_buffer b;
	if (!caf_buffer_get(&b, to->n * to->elem))
		return CAF_MOVE_MEMORY;
	struct caf_section packed = caf_packed(b.p, to->elem, to->n);
	int code = convert_rows(b.p, tf, from, ff) ? 0 : CAF_MOVE_CONVERSION;
	if (code == 0 && !caf_copy_section(to, &packed))
		code = CAF_MOVE_MEMORY;
	caf_buffer_free(&b);
	return code;
}

/* Brings a side into packed memory, as it is. */
static int get_packed(int rank, const struct caf_side *from, char *packed)
{
	struct caf_section to = caf_packed(packed, from->s.elem, from->s.n);
	return from->vector ? caf_get_vector(rank, from, packed) :
			      caf_get_section(rank, &from->s, &to);
}

/*
 * A source of more elements than the destination gives the first ones of each dimension, as
 * assignments of own arrays do. Not so where there are vector subscripts: gfortran divides their
 * number by the stride of the section that they are.
 */
static int cut(struct caf_section *from, const struct caf_section *to, bool subscripts)
{
	if (subscripts)
		return CAF_MOVE_VECTOR;
	if (from->rank != to->rank)
		return CAF_MOVE_SHAPE;
	for (int i = 0; i < from->rank; i++) {
		if (from->count[i] < to->count[i])
			return CAF_MOVE_SHAPE;
		from->count[i] = to->count[i];
	}
	from->n = to->n;
	return 0;
}

int caf_get_side(int rank, const struct caf_side *from, const struct caf_section *to,
	const struct caf_format *tf, bool overlap)
{
	struct caf_side part;
	int code;
	bool repeated = from->s.rank == 0 && to->n != 1;
	if (!repeated && unlikely(from->s.n != to->n)) {
		part = *from;
		code = cut(&part.s, to, from->subscripts);
		if (code)
			return code;
		from = &part;
	}
	if (to->n == 0 || to->elem == 0)
		return 0;
	if (!repeated && !overlap && caf_same_format(tf, &from->f)) {
		if (!from->vector)
			return caf_get_section(rank, &from->s, to);
		if (caf_contiguous(to))
			return caf_get_vector(rank, from, to->base);
	}
	struct caf_buffer b;
	if (!caf_buffer_get(&b, from->s.n * from->s.elem))
		return CAF_MOVE_MEMORY;
	code = from->s.elem ? get_packed(rank, from, b.p) : 0;
	struct caf_section got = repeated ? caf_repeated(b.p, to) :
					    caf_packed(b.p, from->s.elem, from->s.n);
	if (code == 0)
		code = caf_assign(to, tf, &got, &from->f);
	caf_buffer_free(&b);
	return code;
}

static int put_as_is(int rank, const struct caf_side *to, const struct caf_section *from)
{
	return to->vector ? caf_put_vector(rank, to, from->base) :
			    caf_put_section(rank, &to->s, from);
}

int caf_put_side(int rank, const struct caf_side *to, const struct caf_section *from,
	const struct caf_format *ff, bool overlap)
{
	struct caf_section source = *from;
	int code = 0;
	if (from->n != to->s.n) {
		if (from->rank == 0)
			source = caf_repeated(from->base, &to->s);
		else
			code = cut(&source, &to->s, to->subscripts);
		if (code)
			return code;
	}
	if (to->s.n == 0 || to->s.elem == 0)
		return 0;
	if (!overlap && caf_same_format(&to->f, ff) && (!to->vector || caf_contiguous(&source)))
		return put_as_is(rank, to, &source);
	struct caf_buffer b;
	if (!caf_buffer_get(&b, to->s.n * to->s.elem))
		return CAF_MOVE_MEMORY;
	struct caf_section packed = caf_packed(b.p, to->s.elem, to->s.n);
	code = caf_assign(&packed, &to->f, &source, ff);
	if (code == 0)
		code = put_as_is(rank, to, &packed);
	caf_buffer_free(&b);
	return code;
}

void caf_move_error(int code, int *stat, const char *what, int image)
{
	static const char *const text[] = {
		[CAF_MOVE_MEMORY] = "no memory for a temporary copy",
		[CAF_MOVE_CONVERSION] = "there is no conversion between the types of the two sides",
		[CAF_MOVE_SHAPE] = "the two sides have different shapes",
		[CAF_MOVE_VECTOR] = "the compiler passes this vector subscript wrongly; assign it "
				    "to a variable first",
		[CAF_MOVE_PATH] = "a reference to a component that this library does not know",
		[CAF_MOVE_ABSENT] = "a component is not allocated or associated there",
		[CAF_MOVE_REMOTE] = "this would need to reallocate a component of another image",
		[CAF_MOVE_IMAGE] = "there is no such image in the team",
		[CAF_MOVE_TOKEN] = "the coarray is not allocated",
	};
	if (code == CAF_MOVE_FAILED)
		caf_error(CAF_FAILED_IMAGE, stat, NULL, 0, "%s: image %d has failed", what, image);
	else if (code == FAIL8)
		caf_error(CAF_ACCESS_ERROR, stat, NULL, 0,
			"%s: component of image %d is not in memory that other images reach", what,
			image);
	else if (code < 0)
		caf_error(CAF_ACCESS_ERROR, stat, NULL, 0, "%s: image %d: ARMCI says %d", what,
			image, code);
	else
		caf_error(CAF_ACCESS_ERROR, stat, NULL, 0, "%s: image %d: %s", what, image,
			text[code]);
}
