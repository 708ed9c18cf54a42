/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi.h: what gfortran -fcoarray=lib passes to its coarray library: layouts and constants, as
 * documented in the "Coarray Programming" chapter of the GNU Fortran manual and as the compiler
 * emits them. Nothing of libcaf_armci itself. The prototypes of what one generation of the compiler
 * calls stand beside their definitions; a name says for which generation, where it matters.
 */
#ifndef CAF_ABI_H_
#define CAF_ABI_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAF_MAX_RANK 15

/* An array descriptor. Bounds and strides count elements; span is the distance in bytes of elements
 * one stride apart. */
struct caf_dim {
	ptrdiff_t stride, lower, upper;
};
struct caf_dtype {
	size_t elem_len; /* bytes; of character data the whole string */
	int version;
	signed char rank, type;
	signed short attribute;
};
struct caf_desc {
	void *base;
	size_t offset;
	struct caf_dtype dtype;
	ptrdiff_t span;
	struct caf_dim dim[CAF_MAX_RANK]; /* as many as dtype.rank says */
};

/* dtype.type */
enum caf_type {
	CAF_INTEGER = 1,
	CAF_LOGICAL,
	CAF_REAL,
	CAF_COMPLEX,
	CAF_DERIVED,
	CAF_CHARACTER,
	CAF_CLASS,
	CAF_PROCEDURE,
	CAF_HOLLERITH,
	CAF_VOID,
	CAF_ASSUMED
};

/* What is registered. Sizes of the first two and the last are bytes, of the others elements. The
 * last but two (ONLY) are allocatable or pointer components, which images allocate alone.
 * MAP_EXISTING (GCC 16) makes a second token for memory of one. */
enum caf_register {
	CAF_COARRAY_STATIC,
	CAF_COARRAY_ALLOC,
	CAF_LOCK_STATIC,
	CAF_LOCK_ALLOC,
	CAF_CRITICAL,
	CAF_EVENT_STATIC,
	CAF_EVENT_ALLOC,
	CAF_REGISTER_ONLY,
	CAF_ALLOCATE_ONLY,
	CAF_MAP_EXISTING
};
enum caf_deregister { CAF_DEREGISTER, CAF_DEALLOCATE_ONLY };

/* Stat values: of ISO_FORTRAN_ENV, and the one that gfortran gives to allocations that fail. */
enum caf_stat {
	CAF_OK = 0,
	CAF_UNLOCKED = 0,
	CAF_LOCKED = 1,
	CAF_LOCKED_OTHER_IMAGE = 2,
	CAF_ALLOCATION = 5014,
	CAF_STOPPED_IMAGE = 6000,
	CAF_FAILED_IMAGE = 6001,
	CAF_UNLOCKED_FAILED_IMAGE = 6002
};

/* A subscript of one dimension: a vector of nvec integers of the kind, or, with nvec 0, a triplet.
 */
struct caf_vector {
	size_t nvec;
	union {
		struct {
			void *vector;
			int kind;
		} v;
		struct {
			ptrdiff_t lower, upper, stride;
		} triplet;
	} u;
};

/* A path to a part of an object (GCC up to 14): a list of steps. */
enum caf_ref_type { CAF_REF_COMPONENT, CAF_REF_ARRAY, CAF_REF_STATIC_ARRAY };
enum caf_array_ref {
	CAF_ARR_NONE, /* no more dimensions */
	CAF_ARR_VECTOR,
	CAF_ARR_FULL,
	CAF_ARR_RANGE,
	CAF_ARR_SINGLE,     /* subscript is `start` */
	CAF_ARR_OPEN_END,   /* (start:) */
	CAF_ARR_OPEN_START  /* (:end) */
};
struct caf_ref {
	struct caf_ref *next;
	int type;
	size_t item_size; /* bytes of an element, or of the component */
	union {
		struct {
			ptrdiff_t offset;       /* bytes, of the component in its type */
			ptrdiff_t token_offset; /* bytes; 0: neither allocatable nor pointer */
		} c;
		struct {
			unsigned char mode[CAF_MAX_RANK];
			int static_type;
			union {
				struct {
					ptrdiff_t start, end, stride;
				} s;
				struct {
					void *vector;
					size_t nvec;
					int kind;
				} v;
			} dim[CAF_MAX_RANK];
		} a;
	} u;
};

#endif
