/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * real(10) or real(16)? On x86 both have 16 bytes, and a descriptor tells no more. The values do: a number of kind 16 has its exponent
 * in the last two bytes; one of kind 10 has it in bytes 8 and 9, the highest bit below is set, and the last six bytes are unused.
 * All images decide together.
 */
#include "reduce.h"

enum { BIAS = 16383, USUAL = 1024 }; /* exponents that double precision has, too, are likely */

static bool usual(unsigned exponent) { return (exponent & 0x7fff) - (BIAS - USUAL) <= 2 * USUAL; }

bool caf_extended(struct caf_team *t, const char *data, size_t bytes)
{
	long votes[3] = {0, 0, 0}; /* kind 16, kind 10, rather kind 16 than zero of kind 10 */
	for (size_t at = 0; at < bytes; at += 16) {
		unsigned char top;
		unsigned short exponent10, exponent16;
		memcpy(&top, data + at + 7, 1);
		memcpy(&exponent10, data + at + 8, 2);
		memcpy(&exponent16, data + at + 14, 2);
		votes[0] += usual(exponent16);
		votes[1] += !usual(exponent16) && top & 0x80 && usual(exponent10);
		votes[2] += (exponent16 & 0x7fff) != 0;
	}
	caf_call_gop(votes, 3, "+", ARMCI_LONG, t->group);
	return votes[0] || votes[1] ? votes[1] > votes[0] : votes[2] == 0;
}
