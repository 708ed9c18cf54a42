// SPDX-License-Identifier: BSD-3-Clause
// errors.h - a call with a bad argument, for errors.c: it returns the documented code, and prints
// one line.
#ifndef ERRORS_H
#define ERRORS_H

#include "capture.h"

static int failures; // calls that were not answered as documented

static inline void expect(struct capture *c, const char *call, int got, int want,
	const char *function, const char *argument)
{
	if (got == want && capture_is(c, function, argument))
		return;
	failures++;
	fprintf(stderr,
		"rank %d: %s\n  returned %d, expected %d with one line naming %s and \"%s\"; "
		"printed: %s\n",
		me, call, got, want, function, argument, c->text);
}

// The call must return the code and print one line with the argument's name.
#define BAD(code, function, argument, call) \
	do { \
		struct capture c_; \
		capture_begin(&c_); \
		int got_ = (call); \
		capture_end(&c_); \
		expect(&c_, #call, got_, code, #function, argument); \
	} while (0)

// A mistake that all ranks make in a collective call: each gets the code, the lowest prints the
// line.
#define BAD_ONCE(code, function, argument, call) \
	do { \
		struct capture c_; \
		capture_begin(&c_); \
		int got_ = (call); \
		capture_end(&c_); \
		if (me == 0) \
			expect(&c_, #call, got_, code, #function, argument); \
		else \
			CHECK(got_ == code && c_.lines == 0); \
	} while (0)

// BAD for a private address: wrong only for another rank, since a rank may name all of its own
// memory.
#define BAD_FAR(code, function, argument, call) \
	do { \
		if (np > 1) \
			BAD(code, function, argument, call); \
	} while (0)

#endif
