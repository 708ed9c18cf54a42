/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * real(10) or real(16)? On x86 both have 16 bytes, and a descriptor tells no more.
 *
 * A program's function tells: in kind 10 it returns its result on the x87 stack, in kind 16 in a
 * vector register or in memory. CO_REDUCE calls it once to see which.
 *
 * Without a function the values must tell, and cannot with certainty: a number of kind 16 has its
 * exponent in the last two bytes; one of kind 10 has it in bytes 8 and 9, the highest bit below is
 * set, and the last six bytes are unused. But those may have anything in them, and the first bytes
 * of a mantissa of kind 16 may look like the other kind. A value that looks like both says nothing,
 * unless its mantissa is a short one of kind 10: one that no double in kind 16 has, or one with
 * zeros in its middle. All images decide together.
 */
#include "reduce.h"

enum { BIAS = 16383, USUAL = 1024 }; /* exponents that double precision has, too, are likely */

static bool usual(unsigned exponent) { return (exponent & 0x7fff) - (BIAS - USUAL) <= 2 * USUAL; }

static bool values_extended(struct caf_team *t, const char *data, size_t bytes)
{
	long votes[3] = {0, 0, 0}; /* kind 16, kind 10, rather kind 16 than zero of kind 10 */
	for (size_t at = 0; at < bytes; at += 16) {
		unsigned char top;
		unsigned low, high, middle;
		unsigned short exponent10, exponent16;
		memcpy(&low, data + at, 4);
		memcpy(&high, data + at + 4, 4);
		memcpy(&top, data + at + 7, 1);
		memcpy(&exponent10, data + at + 8, 2);
		memcpy(&middle, data + at + 10, 4);
		memcpy(&exponent16, data + at + 14, 2);
		bool as10 = top & 0x80 && usual(exponent10), as16 = usual(exponent16);
		votes[0] += as16 && !as10;
		votes[1] += as10 && (!as16 || (low == 0 && (high << 4 != 0 || middle == 0)));
		votes[2] += (exponent16 & 0x7fff) != 0;
	}
	caf_call_gop(votes, 3, "+", ARMCI_LONG, t->group);
	return votes[0] || votes[1] ? votes[1] > votes[0] : votes[2] == 0;
}

#ifdef __x86_64__
/* Whether a call has left something on the x87 stack, which is empty afterwards. */
static inline bool x87_result(void)
{
	struct {
		unsigned control, status, tags, others[4];
	} state;
	__asm__ volatile("fnstenv %0\n\tfldcw %0\n\temms" : "=m"(state) : : "memory");
	return (state.tags & 0xffff) != 0xffff;
}

struct real {
	long double x;
};
struct complex {
	long double re, im;
};

/* Calls the function with one element for every argument, where each kind looks for it: by address,
 * in vector registers and on the stack. The first address may be that of the result. */
static bool function_extended(const struct caf_combine *c, const char *data)
{
	char result[32] __attribute__((aligned(16))), element[32] __attribute__((aligned(16)));
	memcpy(result, data, c->elem);
	memcpy(element, data, c->elem);
	if (c->type == CAF_COMPLEX) {
		struct complex z;
		memcpy(&z, data, sizeof z);
		((void (*)(void *, void *, void *, struct complex, struct complex))c->function)(
			result, element, element, z, z);
	} else {
		struct real x;
		_Float128 y;
		memcpy(&x, data, sizeof x);
		memcpy(&y, data, sizeof y);
		((void (*)(void *, void *, void *, _Float128, _Float128, struct real,
			struct real))c->function)(result, element, element, y, y, x, x);
	}
	return x87_result();
}
#endif

bool caf_extended(struct caf_team *t, const struct caf_combine *c, const char *data, size_t bytes)
{
#ifdef __x86_64__
	if (c->function)
		return bytes && function_extended(c, data);
#endif
	(void)c;
	return values_extended(t, data, bytes);
}
