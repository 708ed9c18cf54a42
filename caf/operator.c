/* SPDX-License-Identifier: BSD-3-Clause */
/* Sum, minimum and maximum of every type of gfortran, for elements that ARMCI's own reductions do
 * not know. */
#include <float.h>

#include "reduce.h"

#define COUNT(T) const T *b = (const void *)from; T *a = (void *)into; (void)c
#define SUM(NAME, T) \
	static void NAME##_sum(const struct caf_combine *c, char *into, const char *from, \
		size_t n) \
	{ \
		COUNT(T); \
		for (size_t i = 0; i < n; i++) a[i] = (T)(a[i] + b[i]); \
	}
#define ORDER(NAME, T) \
	static void NAME##_min(const struct caf_combine *c, char *into, const char *from, \
		size_t n) \
	{ \
		COUNT(T); \
		for (size_t i = 0; i < n; i++) a[i] = b[i] < a[i] ? b[i] : a[i]; \
	} \
	static void NAME##_max(const struct caf_combine *c, char *into, const char *from, \
		size_t n) \
	{ \
		COUNT(T); \
		for (size_t i = 0; i < n; i++) a[i] = b[i] > a[i] ? b[i] : a[i]; \
	}
/* Integers wrap: they are added without sign. */
#define INTEGER(NAME, T, U) SUM(NAME, U) ORDER(NAME, T)
#define REAL(NAME, T) SUM(NAME, T) ORDER(NAME, T)

INTEGER(i1, int8_t, uint8_t)
INTEGER(i2, int16_t, uint16_t)
INTEGER(i4, int32_t, uint32_t)
INTEGER(i8, int64_t, uint64_t)
INTEGER(i16, __int128, unsigned __int128)
REAL(r4, float)
REAL(r8, double)
#if LDBL_MANT_DIG == 113
REAL(r16, long double)
#else
REAL(r10, long double)
REAL(r16, _Float128)
#endif

/* Strings in the order of their characters, which is unsigned. */
static int compare(const char *a, const char *b, size_t bytes, size_t character)
{
	if (character == 1)
		return memcmp(a, b, bytes);
	for (size_t i = 0; i < bytes; i += 4) {
		uint32_t x, y;
		memcpy(&x, a + i, 4);
		memcpy(&y, b + i, 4);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static void strings(const struct caf_combine *c, char *into, const char *from, size_t n, int sign)
{
	for (size_t i = 0; i < n; i++)
		if (compare(from + i * c->elem, into + i * c->elem, c->elem, c->length) * sign > 0)
			memcpy(into + i * c->elem, from + i * c->elem, c->elem);
}
static void string_min(const struct caf_combine *c, char *into, const char *from, size_t n)
{
	strings(c, into, from, n, -1);
}
static void string_max(const struct caf_combine *c, char *into, const char *from, size_t n)
{
	strings(c, into, from, n, 1);
}

enum { EXTENDED = 10 }; /* real(10), which has 16 bytes */

struct row {
	int type;
	size_t bytes;
	/* by enum caf_operator */
	void (*f[3])(const struct caf_combine *c, char *into, const char *from, size_t n);
};
#define ROW(TYPE, BYTES, NAME) {TYPE, BYTES, {NAME##_sum, NAME##_min, NAME##_max}}
static const struct row table[] = {
	ROW(CAF_INTEGER, 1, i1),
	ROW(CAF_INTEGER, 2, i2),
	ROW(CAF_INTEGER, 4, i4),
	ROW(CAF_INTEGER, 8, i8),
	ROW(CAF_INTEGER, 16, i16),
	ROW(CAF_REAL, 4, r4),
	ROW(CAF_REAL, 8, r8),
	ROW(CAF_REAL, 16, r16),
#if LDBL_MANT_DIG != 113
	ROW(CAF_REAL, EXTENDED, r10),
#endif
};

struct caf_combine caf_operator_for(enum caf_operator op, int type, size_t bytes, size_t character)
{
	struct caf_combine c = {.elem = bytes, .type = type};
	if (type == CAF_CHARACTER && op != CAF_SUM && (character == 1 || character == 4)) {
		c.f = op == CAF_MIN ? string_min : string_max;
		c.length = character;
		return c;
	}
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].type == type && table[i].bytes == bytes)
			c.f = table[i].f[op];
		else if (table[i].type == type && bytes == 16 && table[i].bytes == EXTENDED)
			c.extended = table[i].f[op];
	return c;
}
