/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a coarray program is in its coarray library, for any program and either runtime that is
 * a shared library: preloaded, it stands in front of the calls of gfortran -fcoarray=lib that move
 * data or wait, and at the end prints a line for each image on standard error: "coarray calls:
 * image I of N: S seconds in K accesses, T seconds in L calls that wait". Integer and pointer
 * arguments only, as those calls have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "timing.h"

typedef long arg;
#define ARGS \
	arg a, arg b, arg c, arg d, arg e, arg f, arg g, arg h, arg i, arg j, arg k, arg l, arg m, \
		arg n
#define THE_ARGS a, b, c, d, e, f, g, h, i, j, k, l, m, n

static struct {
	double seconds;
	long calls;
} accesses, waits;

/* Passes more arguments than the function has: those that it does not have, it does not read. */
#define TIMED(kind, name) \
	void _gfortran_caf_##name(ARGS); \
	void _gfortran_caf_##name(ARGS) \
	{ \
		static void (*real)(ARGS); \
		if (!real) \
			*(void **)&real = dlsym(RTLD_NEXT, "_gfortran_caf_" #name); \
		double begin = timing_now(); \
		real(THE_ARGS); \
		kind.seconds += timing_now() - begin; \
		kind.calls++; \
	}

TIMED(accesses, get)
TIMED(accesses, send)
TIMED(accesses, sendget)
TIMED(accesses, get_by_ref)
TIMED(accesses, send_by_ref)
TIMED(accesses, sendget_by_ref)
TIMED(waits, sync_all)
TIMED(waits, sync_images)
TIMED(waits, sync_memory)
TIMED(accesses, event_post)
TIMED(waits, event_wait)
TIMED(waits, lock)
TIMED(waits, unlock)
TIMED(waits, co_broadcast)
TIMED(waits, co_sum)
TIMED(waits, co_min)
TIMED(waits, co_max)
TIMED(accesses, atomic_define)
TIMED(accesses, atomic_ref)
TIMED(accesses, atomic_op)
TIMED(accesses, atomic_cas)

void _gfortran_caf_finalize(void);
void _gfortran_caf_finalize(void)
{
	int (*this_image)(arg), (*num_images)(arg, arg);
	void (*real)(void);
	*(void **)&this_image = dlsym(RTLD_NEXT, "_gfortran_caf_this_image");
	*(void **)&num_images = dlsym(RTLD_NEXT, "_gfortran_caf_num_images");
	*(void **)&real = dlsym(RTLD_NEXT, "_gfortran_caf_finalize");
	fprintf(stderr,
		"coarray calls: image %d of %d: %.6f seconds in %ld accesses, %.6f seconds in %ld "
		"calls that wait\n",
		this_image(0), num_images(0, -1), accesses.seconds, accesses.calls, waits.seconds,
		waits.calls);
	real();
}
