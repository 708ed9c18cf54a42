/* SPDX-License-Identifier: BSD-3-Clause */
/* CO_BROADCAST, CO_SUM, CO_MIN, CO_MAX and CO_REDUCE over the current team. */
#include <limits.h>

#include "reduce.h"

enum { LONGEST = 1 << 30 }; /* bytes of one call of ARMCI */

/* The argument: its elements, contiguous. */
struct operand {
	char *data;
	size_t n, elem, bytes;
	bool copied;
	struct caf_section own;
};

static struct caf_section packed(const struct operand *o)
{
	struct caf_section s = o->own;
	ptrdiff_t stride = (ptrdiff_t)s.elem;
	s.base = o->data;
	for (int i = 0; i < s.rank; i++) {
		s.stride[i] = stride;
		stride *= s.count[i];
	}
	return s;
}

/* gfortran broadcasts the components of a derived type by descriptors whose offset and span it has
 * not set. In others the offset follows from bounds and strides. */
static bool has_span(const struct caf_desc *d)
{
	size_t offset = 0;
	for (int i = 0; i < d->dtype.rank; i++)
		offset -= (size_t)(d->dim[i].lower * d->dim[i].stride);
	return d->span > 0 && d->offset == offset;
}

static void describe(struct caf_section *s, const struct caf_desc *d)
{
	struct caf_desc plain;
	if (has_span(d)) {
		caf_section_of(s, d);
		return;
	}
	memcpy(&plain, d,
		offsetof(struct caf_desc, dim) + (size_t)d->dtype.rank * sizeof d->dim[0]);
	plain.span = (ptrdiff_t)d->dtype.elem_len;
	caf_section_of(s, &plain);
}

static void open_operand(struct operand *o, const struct caf_desc *d)
{
	if (d->dtype.rank == 0) {
		*o = (struct operand){.data = d->base,
			.n = 1,
			.elem = d->dtype.elem_len,
			.bytes = d->dtype.elem_len};
		return;
	}
	describe(&o->own, d);
	*o = (struct operand){.data = o->own.base,
		.n = o->own.n,
		.elem = o->own.elem,
		.bytes = o->own.n * o->own.elem,
		.own = o->own};
	if (o->n == 0 || caf_contiguous(&o->own))
		return;
	o->copied = true;
	o->data = malloc(o->bytes);
	if (!o->data)
		caf_fatal("no memory for %zu bytes of a collective", o->bytes);
	struct caf_section s = packed(o);
	caf_copy_section(&s, &o->own);
}

static void close_operand(struct operand *o, bool changed)
{
	if (!o->copied)
		return;
	struct caf_section s = packed(o);
	if (changed)
		caf_copy_section(&o->own, &s);
	free(o->data);
}

static void broadcast(struct caf_team *t, int root, char *data, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += LONGEST)
		caf_call_bcast(data + at, (int)(bytes - at < LONGEST ? bytes - at : LONGEST),
			t->rank[root], t->group);
}

/* Small data goes at once. */
static int broadcast_announced(struct caf_team *t, int root, char *data, size_t bytes)
{
	bool small = bytes <= CAF_CALL_BYTES;
	int code = small ? caf_begin(t, CAF_CALL_BCAST, root, 0, (int)bytes) : caf_gate(t);
	if (code != CAF_OK)
		return code;
	broadcast(t, root, data, bytes);
	return small ? caf_finish(t) : CAF_OK;
}

static bool no_image(int image, int *stat, char *errmsg, size_t length, const char *what)
{
	if (image >= 1 && image <= caf.current->n)
		return false;
	caf_error(CAF_NO_IMAGE, stat, errmsg, length, "%s: there is no image %d in the team of %d",
		what, image, caf.current->n);
	return true;
}

CAF_API void _gfortran_caf_co_broadcast(struct caf_desc *d, int source, int *stat, char *errmsg,
	size_t length)
{
	struct caf_team *t = caf.current;
	struct operand o;
	int code = CAF_OK;
	if (no_image(source, stat, errmsg, length, "CO_BROADCAST"))
		return;
	open_operand(&o, d);
	if (o.bytes > 0)
		code = broadcast_announced(t, source - 1, o.data, o.bytes);
	close_operand(&o, code == CAF_OK && t->me != source - 1);
	caf_report(code, stat, errmsg, length, "CO_BROADCAST");
}

/* ARMCI's element type; 0: none. Parts of complex numbers are added one by one. */
static int armci_type(int type, size_t elem, size_t *per_element)
{
	*per_element = 1;
	switch (type) {
	case CAF_INTEGER:
		return elem == sizeof(int) ? ARMCI_INT : elem == sizeof(long) ? ARMCI_LONG : 0;
	case CAF_REAL:
		return elem == sizeof(float)   ? ARMCI_FLOAT :
			elem == sizeof(double) ? ARMCI_DOUBLE :
						 0;
	case CAF_COMPLEX:
		*per_element = 2;
		return elem == 2 * sizeof(float)   ? ARMCI_FLOAT :
			elem == 2 * sizeof(double) ? ARMCI_DOUBLE :
						     0;
	}
	return 0;
}

static const char *const armci_op[] = {[CAF_SUM] = "+", [CAF_MIN] = "min", [CAF_MAX] = "max"};

static int reduce_by_armci(struct caf_team *t, enum caf_operator op, struct operand *o, int type,
	size_t n)
{
	bool small = o->bytes <= CAF_CALL_BYTES;
	int code = small ? caf_begin(t, CAF_CALL_GOP, 0, type, (int)n) : caf_gate(t);
	if (code != CAF_OK)
		return code;
	size_t size = o->bytes / n, step = LONGEST / size;
	for (size_t i = 0; i < n; i += step)
		caf_call_gop(o->data + i * size, (int)(n - i < step ? n - i : step), armci_op[op],
			type, t->group);
	return small ? caf_finish(t) : CAF_OK;
}

static int reduce_by_tree(struct caf_team *t, int root, struct operand *o,
	const struct caf_combine *c)
{
	int code = caf_gate(t);
	if (code == CAF_OK)
		caf_reduce_tree(t, root, o->data, o->n, c);
	return code;
}

/* result_image 0: all. */
static bool wrong_result_image(int image, int *stat, char *errmsg, size_t length, const char *what)
{
	return image != 0 && no_image(image, stat, errmsg, length, what);
}

/* An array without elements, or of elements without bytes (strings of length 0, types without
 * components): no image has anything to say, and no operator is chosen, which would divide by them.
 */
static bool is_empty(const struct caf_desc *d)
{
	struct caf_section s = {.n = 1};
	if (d->dtype.rank > 0)
		describe(&s, d);
	return d->dtype.elem_len == 0 || s.n == 0;
}

static void reduce(enum caf_operator op, struct caf_desc *d, int result_image, size_t string,
	int *stat, char *errmsg, size_t length, const char *what)
{
	struct caf_team *t = caf.current;
	struct operand o;
	size_t per_element;
	int code = CAF_OK, type = d->dtype.type,
	    known = armci_type(type, d->dtype.elem_len, &per_element);
	if (wrong_result_image(result_image, stat, errmsg, length, what))
		return;
	if (is_empty(d)) {
		caf_report(CAF_OK, stat, errmsg, length, what);
		return;
	}
	size_t character = type == CAF_CHARACTER && string ? d->dtype.elem_len / string : 1;
	struct caf_combine c = {0};
	if (!known && type == CAF_COMPLEX)
		c = caf_operator_for(op, CAF_REAL, d->dtype.elem_len / 2, 0);
	else if (!known)
		c = caf_operator_for(op, type, d->dtype.elem_len, character);
	if (!known && !c.f) {
		caf_error(CAF_WRONG, stat, errmsg, length, "%s: not for type %d of %zu bytes", what,
			type, d->dtype.elem_len);
		return;
	}
	open_operand(&o, d);
	if (known)
		code = reduce_by_armci(t, op, &o, known, o.n * per_element);
	else {
		o.n = o.bytes / c.elem;
		code = reduce_by_tree(t, result_image - 1, &o, &c);
	}
	close_operand(&o, code == CAF_OK && (result_image == 0 || result_image == t->me + 1));
	caf_report(code, stat, errmsg, length, what);
}

CAF_API void _gfortran_caf_co_sum(struct caf_desc *d, int result_image, int *stat, char *errmsg,
	size_t length)
{
	reduce(CAF_SUM, d, result_image, 0, stat, errmsg, length, "CO_SUM");
}

/* string: characters of a string. Where the compiler has passed ERRMSG= by value, it is where the
 * address of that should be. */
static size_t characters(int string, const char *errmsg)
{
	return caf_is_address(errmsg) || !errmsg ? (size_t)string : (uintptr_t)errmsg;
}

CAF_API void _gfortran_caf_co_min(struct caf_desc *d, int result_image, int *stat, char *errmsg,
	int string, size_t length)
{
	reduce(CAF_MIN, d, result_image, characters(string, errmsg), stat, errmsg, length,
		"CO_MIN");
}

CAF_API void _gfortran_caf_co_max(struct caf_desc *d, int result_image, int *stat, char *errmsg,
	int string, size_t length)
{
	reduce(CAF_MAX, d, result_image, characters(string, errmsg), stat, errmsg, length,
		"CO_MAX");
}

CAF_API void _gfortran_caf_co_reduce(struct caf_desc *d, void (*function)(void), int flags,
	int result_image, int *stat, char *errmsg, int string, size_t length)
{
	struct caf_team *t = caf.current;
	struct operand o;
	int code = CAF_OK;
	if (wrong_result_image(result_image, stat, errmsg, length, "CO_REDUCE"))
		return;
	if (is_empty(d)) {
		caf_report(CAF_OK, stat, errmsg, length, "CO_REDUCE");
		return;
	}
	struct caf_combine c = caf_function_for(function, flags, d->dtype.type, d->dtype.elem_len,
		characters(string, errmsg));
	if (!c.f) {
		caf_error(CAF_WRONG, stat, errmsg, length,
			d->dtype.type == CAF_DERIVED ?
				"CO_REDUCE: not for objects of derived type %d of %zu bytes: which "
				"registers "
				"a function returns them in depends on their components, which "
				"gfortran "
				"does not tell; types of 17 to 262144 bytes are returned through "
				"memory: "
				"add a component" :
				"CO_REDUCE: not for type %d of %zu bytes with such a function",
			d->dtype.type, d->dtype.elem_len);
		return;
	}
	open_operand(&o, d);
	code = reduce_by_tree(t, result_image - 1, &o, &c);
	close_operand(&o, code == CAF_OK && (result_image == 0 || result_image == t->me + 1));
	caf_report(code, stat, errmsg, length, "CO_REDUCE");
}
