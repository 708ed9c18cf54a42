/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls the function that a program has given to CO_REDUCE. How it returns its result and takes its
 * arguments follows from the type, as in C: scalars by type; strings, and objects that a register
 * cannot hold, through memory.
 */
#include <complex.h>
#include <float.h>

#include "reduce.h"

#define SCALAR(NAME, T) \
	static void NAME##_reference(const struct caf_combine *c, char *into, const char *from, \
		size_t n) \
	{ \
		T (*f)(T *, T *) = (T(*)(T *, T *))c->function, *a = (void *)into, b; \
		for (size_t i = 0; i < n; i++) { \
			memcpy(&b, from + i * sizeof(T), sizeof(T)); \
			a[i] = f(&a[i], &b); \
		} \
	} \
	static void NAME##_value(const struct caf_combine *c, char *into, const char *from, \
		size_t n) \
	{ \
		T (*f)(T, T) = (T(*)(T, T))c->function, *a = (void *)into, b; \
		for (size_t i = 0; i < n; i++) { \
			memcpy(&b, from + i * sizeof(T), sizeof(T)); \
			a[i] = f(a[i], b); \
		} \
	}

SCALAR(i1, int8_t)
SCALAR(i2, int16_t)
SCALAR(i4, int32_t)
SCALAR(i8, int64_t)
SCALAR(i16, __int128)
SCALAR(r4, float)
SCALAR(r8, double)
SCALAR(c4, float complex)
SCALAR(c8, double complex)
#if LDBL_MANT_DIG == 113
SCALAR(r16, long double)
SCALAR(c16, long double complex)
#else
SCALAR(r10, long double)
SCALAR(r16, _Float128)
SCALAR(c10, long double complex)
SCALAR(c16, _Complex _Float128)
#endif

/* The result goes to the address in front of the arguments. */
static void through_memory(const struct caf_combine *c, char *into, const char *from, size_t n)
{
	void (*f)(void *, void *, void *) = (void (*)(void *, void *, void *))c->function;
	char *result = malloc(c->elem);
	if (!result)
		caf_fatal("CO_REDUCE: no memory for an element of %zu bytes", c->elem);
	for (size_t i = 0; i < n; i++) {
		f(result, into + i * c->elem, (void *)(from + i * c->elem));
		memcpy(into + i * c->elem, result, c->elem);
	}
	free(result);
}

/* Strings: the lengths of the result and of the arguments are passed, too. */
static void strings(const struct caf_combine *c, char *into, const char *from, size_t n)
{
	void (*f)(char *, size_t, char *, char *, size_t, size_t) =
		(void (*)(char *, size_t, char *, char *, size_t, size_t))c->function;
	char *result = malloc(c->elem);
	if (!result)
		caf_fatal("CO_REDUCE: no memory for a string of %zu bytes", c->elem);
	for (size_t i = 0; i < n; i++) {
		f(result, c->length, into + i * c->elem, (char *)(uintptr_t)(from + i * c->elem),
			c->length, c->length);
		memcpy(into + i * c->elem, result, c->elem);
	}
	free(result);
}

/* Objects of derived type that are returned as C structures of more than two registers: where the
 * caller says. The caller is compiled for a size that is at least as large. */
#define OBJECT(BYTES) \
	struct object##BYTES { \
		char byte[BYTES]; \
	}; \
	static void object##BYTES##_reference(const struct caf_combine *c, char *into, \
		const char *from, size_t n) \
	{ \
		struct object##BYTES (*f)(void *, \
			void *) = (struct object##BYTES(*)(void *, void *))c->function; \
		for (size_t i = 0; i < n; i++) { \
			struct object##BYTES result = f(into + i * c->elem, \
				(char *)(uintptr_t)(from + i * c->elem)); \
			memcpy(into + i * c->elem, &result, c->elem); \
		} \
	}
OBJECT(128)
OBJECT(1024)
OBJECT(16384)
OBJECT(262144)

/* EXTENDED: real(10), which has 16 bytes */
enum { REGISTERS = 16, LARGEST = 262144, EXTENDED = 10 };

struct row {
	int type;
	size_t bytes;
	/* arguments by reference, by value */
	void (*f[2])(const struct caf_combine *c, char *into, const char *from, size_t n);
};
#define ROW(TYPE, BYTES, NAME) {TYPE, BYTES, {NAME##_reference, NAME##_value}}
static const struct row table[] = {
	ROW(CAF_INTEGER, 1, i1),
	ROW(CAF_INTEGER, 2, i2),
	ROW(CAF_INTEGER, 4, i4),
	ROW(CAF_INTEGER, 8, i8),
	ROW(CAF_INTEGER, 16, i16),
	ROW(CAF_LOGICAL, 1, i1),
	ROW(CAF_LOGICAL, 2, i2),
	ROW(CAF_LOGICAL, 4, i4),
	ROW(CAF_LOGICAL, 8, i8),
	ROW(CAF_LOGICAL, 16, i16),
	ROW(CAF_REAL, 4, r4),
	ROW(CAF_REAL, 8, r8),
	ROW(CAF_REAL, 16, r16),
	ROW(CAF_COMPLEX, 8, c4),
	ROW(CAF_COMPLEX, 16, c8),
	ROW(CAF_COMPLEX, 32, c16),
#if LDBL_MANT_DIG != 113
	ROW(CAF_REAL, EXTENDED, r10),
	ROW(CAF_COMPLEX, 2 * EXTENDED, c10),
#endif
};

struct caf_combine caf_function_for(void (*function)(void), int flags, int type, size_t bytes,
	size_t length)
{
	struct caf_combine c = {.elem = bytes,
		.function = function,
		.type = type,
		.length = length,
		.flags = flags};
	bool value = flags & CAF_BY_VALUE;
	if (flags & CAF_BY_DESCRIPTOR)
		return c;
	if (type == CAF_CHARACTER && !value)
		/* gfortran 12 does not set HIDDEN_LENGTH */
		c.f = flags & CAF_BY_REFERENCE ? strings : bytes == 1 ? i1_reference : NULL;
	else if (flags & CAF_BY_REFERENCE)
		c.f = value ? NULL : through_memory;
	else if (type == CAF_DERIVED && !value && bytes > REGISTERS && bytes <= LARGEST)
		c.f = bytes <= 128 ? object128_reference : bytes <= 1024 ? object1024_reference :
		      bytes <= 16384 ? object16384_reference : object262144_reference;
	if (c.f || flags & CAF_BY_REFERENCE)
		return c;
	size_t extended = type == CAF_REAL && bytes == 16 ? EXTENDED :
		type == CAF_COMPLEX && bytes == 32        ? 2 * EXTENDED :
							    0;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].type == type && table[i].bytes == bytes)
			c.f = table[i].f[value];
		else if (table[i].type == type && extended && table[i].bytes == extended)
			c.extended = table[i].f[value];
	return c;
}
