/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion of numbers and logicals. Pairs of the common kinds have a loop each; all others go
 * through the widest type of their class, which holds every value of it. A real becomes an integer
 * by truncation; what is not 0 is true.
 */
#include <float.h>

#include "caf.h"

#if LDBL_MANT_DIG == 113
typedef long double widest;
#else
typedef __float128 widest;
#endif
typedef __int128 integer;

/* One loop. */
#define LOOP(tt, ft) \
	for (size_t i = 0; i < n; i++, to += ts, from += fs) \
		*(tt *)(void *)to = (tt)(*(const ft *)(const void *)from);
#define FROM(tt) \
	switch (code_from) { \
	case CODE(CAF_INTEGER, 1): LOOP(tt, int8_t) return true; \
	case CODE(CAF_INTEGER, 2): LOOP(tt, int16_t) return true; \
	case CODE(CAF_INTEGER, 4): LOOP(tt, int32_t) return true; \
	case CODE(CAF_INTEGER, 8): LOOP(tt, int64_t) return true; \
	case CODE(CAF_REAL, 4): LOOP(tt, float) return true; \
	case CODE(CAF_REAL, 8): LOOP(tt, double) return true; \
	default: return false; \
	}
#define CODE(type, kind) ((type) << 8 | (kind))

/* False: not one of the common pairs. */
static bool convert_common(char *to, int code_to, ptrdiff_t ts, const char *from, int code_from,
	ptrdiff_t fs, size_t n)
{
	switch (code_to) {
	case CODE(CAF_INTEGER, 1): FROM(int8_t)
	case CODE(CAF_INTEGER, 2): FROM(int16_t)
	case CODE(CAF_INTEGER, 4): FROM(int32_t)
	case CODE(CAF_INTEGER, 8): FROM(int64_t)
	case CODE(CAF_REAL, 4): FROM(float)
	case CODE(CAF_REAL, 8): FROM(double)
	default: return false;
	}
}

struct value {
	bool real;
	integer i;
	widest r;
};

static bool load(struct value *v, const void *p, int code)
{
	v->real = false;
	switch (code) {
	case CODE(CAF_INTEGER, 1): v->i = *(const int8_t *)p; return true;
	case CODE(CAF_INTEGER, 2): v->i = *(const int16_t *)p; return true;
	case CODE(CAF_INTEGER, 4): v->i = *(const int32_t *)p; return true;
	case CODE(CAF_INTEGER, 8): v->i = *(const int64_t *)p; return true;
	case CODE(CAF_INTEGER, 16): v->i = *(const integer *)p; return true;
	}
	v->real = true;
	switch (code) {
	case CODE(CAF_REAL, 4): v->r = *(const float *)p; return true;
	case CODE(CAF_REAL, 8): v->r = *(const double *)p; return true;
#if LDBL_MANT_DIG == 64
	case CODE(CAF_REAL, 10): v->r = *(const long double *)p; return true;
#endif
	case CODE(CAF_REAL, 16): v->r = *(const widest *)p; return true;
	}
	return false;
}

#define STORE(type) *(type *)p = v->real ? (type)v->r : (type)v->i; return true

static bool store(const struct value *v, void *p, int code)
{
	switch (code) {
	case CODE(CAF_INTEGER, 1): STORE(int8_t);
	case CODE(CAF_INTEGER, 2): STORE(int16_t);
	case CODE(CAF_INTEGER, 4): STORE(int32_t);
	case CODE(CAF_INTEGER, 8): STORE(int64_t);
	case CODE(CAF_INTEGER, 16): STORE(integer);
	case CODE(CAF_REAL, 4): STORE(float);
	case CODE(CAF_REAL, 8): STORE(double);
#if LDBL_MANT_DIG == 64
	case CODE(CAF_REAL, 10): STORE(long double);
#endif
	case CODE(CAF_REAL, 16): STORE(widest);
	default: return false;
	}
}

bool caf_convert_numbers(char *to, int to_type, int to_kind, ptrdiff_t to_stride, const char *from,
	int from_type, int from_kind, ptrdiff_t from_stride, size_t n)
{
	bool logical = to_type == CAF_LOGICAL;
	int code_to = CODE(logical ? CAF_INTEGER : to_type, to_kind);
	int code_from = CODE(from_type == CAF_LOGICAL ? CAF_INTEGER : from_type, from_kind);
	if (!logical && convert_common(to, code_to, to_stride, from, code_from, from_stride, n))
		return true;
	for (size_t i = 0; i < n; i++, to += to_stride, from += from_stride) {
		struct value v;
		if (!load(&v, from, code_from))
			return false;
		if (logical)
			v = (struct value){.i = v.real ? v.r != 0 : v.i != 0};
		if (!store(&v, to, code_to))
			return false;
	}
	return true;
}
