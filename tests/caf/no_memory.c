/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_memory.c - ALLOCATE (a(n)[*], STAT=s) where an image has no memory: the first, second, third
 * ... call of calloc that the library of coarrays makes there fails, until the coarray can be
 * allocated. All images get the same stat, no image waits for others, and coarrays that are
 * allocated afterwards work. The program is written as gfortran compiles it.
 */
#define NOMEMORY_CALLOC
#include "../fault/nomemory.c"

#include "abi_calls.h"

void _gfortran_caf_co_sum(struct caf_desc *d, int result, int *stat, char *errmsg, size_t length);

enum { MOST = 40, COUNT = 100 };

/* The sum of the images' values. */
static int sum(int value)
{
	struct caf_desc d = {.base = &value, .dtype = {.elem_len = sizeof value,
						     .type = CAF_INTEGER}, .span = sizeof value};
	_gfortran_caf_co_sum(&d, 0, NULL, NULL, 0);
	return value;
}

/* Allocates while the nth call fails on an image. Returns whether there was such a call. */
static bool allocated_without(int kind, int image, long nth)
{
	void *token = NULL;
	struct caf_desc d = {.dtype = {.elem_len = sizeof(int), .rank = 1, .type = CAF_INTEGER},
		.span = sizeof(int), .dim = {{1, 1, COUNT}}};
	size_t size = kind == CAF_COARRAY_ALLOC ? COUNT * sizeof(int) : COUNT;
	int stat = 0;
	refuse(me == image ? nth : 0);
	_gfortran_caf_register(size, kind, &token, &d, &stat, NULL, 0);
	bool refused = me == image && atomic_load(&calls) >= nth;
	refuse(0);
	int failed = sum(stat != 0);
	check(failed == 0 || failed == images, "all images get a stat, or none");
	check(sum(stat) == images * stat, "it is the same");
	refused = sum(refused) > 0;
	check(refused || !failed, "an image fails though it has memory");
	if (!failed) {
		check(d.base != NULL, "memory");
		memset(d.base, me, size);
		_gfortran_caf_deregister(&token, CAF_DEREGISTER, NULL, NULL, 0);
	}
	return refused;
}

int main(int argc, char **argv)
{
	static const int kinds[] = {CAF_COARRAY_ALLOC, CAF_LOCK_ALLOC, CAF_EVENT_ALLOC};
	_gfortran_caf_init(&argc, &argv);
	me = _gfortran_caf_this_image(0);
	images = _gfortran_caf_num_images(0, (uintptr_t)-1);
	for (int k = 0; k < 3; k++)
		for (int image = 1; image <= images; image += images > 1 ? images - 1 : 1) {
			long nth = 1;
			while (allocated_without(kinds[k], image, nth))
				check(++nth < MOST, "the library calls calloc for ever");
			check(nth > 2, "the library calls no calloc");
		}
	_gfortran_caf_sync_all(NULL, NULL, 0);
	if (me == 1)
		puts("ok no_memory");
	fflush(stdout);
	_gfortran_caf_finalize();
	return 0;
}
