/* SPDX-License-Identifier: BSD-3-Clause */
/* Intrinsic assignment between elements of different type, kind or length. */
#include <string.h>

#include "caf.h"

static bool is_intrinsic(int type)
{
	return (type >= CAF_INTEGER && type <= CAF_COMPLEX) || type == CAF_CHARACTER;
}

bool caf_same_format(const struct caf_format *to, const struct caf_format *from)
{
	if (!is_intrinsic(to->type) && !is_intrinsic(from->type))
		return to->elem == from->elem;
	return to->type == from->type && to->elem == from->elem && to->kind == from->kind;
}

static uint32_t character(const char *s, int kind, size_t i)
{
	return kind == 1 ? (unsigned char)s[i] : ((const uint32_t *)(const void *)s)[i];
}

/* Characters [first, end) of a string become blanks. */
static void pad(char *to, int kind, size_t first, size_t end)
{
	if (kind == 1)
		memset(to + first, ' ', end - first);
	else
		for (; first < end; first++) ((uint32_t *)(void *)to)[first] = ' ';
}

/* A character of kind 4 that kind 1 does not have becomes a question mark. */
static void convert_string(char *to, const struct caf_format *tf, const char *from,
	const struct caf_format *ff)
{
	size_t room = tf->elem / (size_t)tf->kind, length = ff->elem / (size_t)ff->kind,
	       n = room < length ? room : length;
	if (tf->kind == ff->kind) {
		memcpy(to, from, n * (size_t)tf->kind);
	} else if (tf->kind == 1) {
		for (size_t i = 0; i < n; i++) {
			uint32_t c = character(from, ff->kind, i);
			to[i] = c > 255 ? '?' : (char)c;
		}
	} else {
		for (size_t i = 0; i < n; i++)
			((uint32_t *)(void *)to)[i] = character(from, ff->kind, i);
	}
	pad(to, tf->kind, n, room);
}

static bool is_character_kind(int kind) { return kind == 1 || kind == 4; }

static bool is_number(int type)
{
	return type == CAF_INTEGER || type == CAF_LOGICAL || type == CAF_REAL ||
		type == CAF_COMPLEX;
}

/* Parts of complex numbers are reals of the kind; one that the source does not have is 0. */
static bool convert_numbers(char *to, const struct caf_format *tf, const char *from,
	const struct caf_format *ff, ptrdiff_t from_stride, size_t n)
{
	static const int8_t zero = 0;
	int to_type = tf->type == CAF_COMPLEX ? CAF_REAL : tf->type,
	    from_type = ff->type == CAF_COMPLEX ? CAF_REAL : ff->type;
	ptrdiff_t to_stride = (ptrdiff_t)tf->elem, part = (ptrdiff_t)(tf->elem / 2);
	if (!caf_convert_numbers(to, to_type, tf->kind, to_stride, from, from_type, ff->kind,
		    from_stride, n))
		return false;
	if (tf->type != CAF_COMPLEX)
		return true;
	if (ff->type == CAF_COMPLEX)
		return caf_convert_numbers(to + part, to_type, tf->kind, to_stride,
			from + ff->elem / 2, from_type, ff->kind, from_stride, n);
	return caf_convert_numbers(to + part, to_type, tf->kind, to_stride, (const char *)&zero,
		CAF_INTEGER, 1, 0, n);
}

bool caf_convert(void *to, const struct caf_format *tf, const void *from,
	const struct caf_format *ff, ptrdiff_t from_stride, size_t n)
{
	if (caf_same_format(tf, ff)) {
		char *t = to;
		for (size_t i = 0; i < n; i++)
			memcpy(t + i * tf->elem, (const char *)from + (ptrdiff_t)i * from_stride,
				tf->elem);
		return true;
	}
	if (tf->type == CAF_CHARACTER && ff->type == CAF_CHARACTER && is_character_kind(tf->kind) &&
		is_character_kind(ff->kind)) {
		char *t = to;
		for (size_t i = 0; i < n; i++)
			convert_string(t + i * tf->elem, tf,
				(const char *)from + (ptrdiff_t)i * from_stride, ff);
		return true;
	}
	return is_number(tf->type) && is_number(ff->type) &&
		convert_numbers(to, tf, from, ff, from_stride, n);
}
