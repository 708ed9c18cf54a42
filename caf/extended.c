/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * real(10) or real(16)? On x86 both have 16 bytes, and a descriptor tells no more. The values do: a number of kind 16 has its exponent
 * in the last two bytes; one of kind 10 has it in bytes 8 and 9, the highest bit below is set, and the last six bytes are unused.
 * But those may have anything in them, random numbers as well, and the first bytes of a mantissa of
 * kind 16 may look like the other kind. A value that looks like both says nothing, unless it has
 * the mantissa of a short number of kind 10 that is not that of a double in kind 16. All images
 * decide together.
 */
#include "reduce.h"

enum { BIAS = 16383, USUAL = 1024 }; /* exponents that double precision has, too, are likely */

static bool usual(unsigned exponent) { return (exponent & 0x7fff) - (BIAS - USUAL) <= 2 * USUAL; }

bool caf_extended(struct caf_team *t, const char *data, size_t bytes)
{
	long votes[3] = {0, 0, 0}; /* kind 16, kind 10, rather kind 16 than zero of kind 10 */
	for (size_t at = 0; at < bytes; at += 16) {
		unsigned char top;
		unsigned low, high;
		unsigned short exponent10, exponent16;
		memcpy(&low, data + at, 4);
		memcpy(&high, data + at + 4, 4);
		memcpy(&top, data + at + 7, 1);
		memcpy(&exponent10, data + at + 8, 2);
		memcpy(&exponent16, data + at + 14, 2);
		bool as10 = top & 0x80 && usual(exponent10), as16 = usual(exponent16);
		votes[0] += as16 && !as10;
		votes[1] += as10 && (!as16 || (low == 0 && high << 4 != 0));
		votes[2] += (exponent16 & 0x7fff) != 0;
	}
	caf_call_gop(votes, 3, "+", ARMCI_LONG, t->group);
	return votes[0] || votes[1] ? votes[1] > votes[0] : votes[2] == 0;
}
