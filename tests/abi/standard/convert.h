// SPDX-License-Identifier: BSD-3-Clause
// Between the standard ABI and MPICH's: a handle of the standard is a small constant, or MPICH's
// int with a mark in the upper half, so that one that lost it is noticed. Included once, by stub.c.
#ifndef STANDARD_CONVERT_H
#define STANDARD_CONVERT_H

#include "each.h"
#include "names.h"

#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// standard.c, by the order of names.h
#define EXTERN(kind) extern const intptr_t standard_##kind[];
KINDS(EXTERN)
#define NATIVE_VALUE(name) (intptr_t)name,
#define NATIVE(kind) static const intptr_t native_##kind[] = { NAMES_##kind(NATIVE_VALUE) };
KINDS(NATIVE)

typedef uintptr_t std; // a handle of the standard

// MPI_Status of the standard.
struct std_status {
	int source, tag, error, internal[5];
};

#define STANDARD_DEFAULT 19 // MPI_DISTRIBUTE_DFLT_DARG
#define MARK    0x5a5a00000000u // of handles that are no constants
#define BUILTIN 0x1000u         // constants are below

static inline intptr_t convert(const intptr_t *from, const intptr_t *to, size_t n, intptr_t value)
{
	for (size_t i = 0; i < n; i++)
		if (from[i] == value)
			return to[i];
	return value;
}

#define LENGTH(kind) (sizeof native_##kind / sizeof native_##kind[0])

// An integer of a kind: in_rank(value), out_rank(value).
#define INTEGER(kind) \
	static inline int in_##kind(int value) \
	{ \
		return (int)convert(standard_##kind, native_##kind, LENGTH(kind), value); \
	} \
	static inline int out_##kind(int value) \
	{ \
		return (int)convert(native_##kind, standard_##kind, LENGTH(kind), value); \
	}
INTEGER(rank) INTEGER(tag) INTEGER(lock) INTEGER(keyval) INTEGER(flavor) INTEGER(model)
INTEGER(level) INTEGER(split) INTEGER(compare) INTEGER(combiner) INTEGER(order)
INTEGER(distribution) INTEGER(class)

// A handle of a kind.
#define HANDLE(kind) \
	static inline int in_##kind(std h) \
	{ \
		if (h >= BUILTIN && h >> 32 != MARK >> 32) { \
			fprintf(stderr, "standard: 0x%zx is no " #kind "\n", (size_t)h); \
			abort(); \
		} \
		return (int)convert(standard_##kind, native_##kind, LENGTH(kind), (int)h); \
	} \
	static inline std out_##kind(int h) \
	{ \
		intptr_t found = convert(native_##kind, standard_##kind, LENGTH(kind), h); \
		return found == h ? MARK | (uint32_t)h : (std)found; \
	}
HANDLE(comm) HANDLE(group) HANDLE(win) HANDLE(info) HANDLE(errhandler) HANDLE(request) HANDLE(op)
HANDLE(type)

// Before a call that writes it a handle may be any bits.
#define HANDLE_BEFORE(h) ((h) >= BUILTIN && (h) >> 32 != MARK >> 32 ? 0 : (h))

static inline int in_mode(int bits)
{
	int native = 0;
	for (size_t i = 0; i < LENGTH(mode); i++) {
		if (bits & standard_mode[i])
			native |= (int)native_mode[i];
		bits &= ~(int)standard_mode[i];
	}
	return native | bits;
}

// A return code becomes its class.
int out_code(int code);
static inline int in_code(int code) { return in_class(code); }

static inline void out_status(struct std_status *to, const MPI_Status *from)
{
	if (to)
		*to = (struct std_status){ out_rank(from->MPI_SOURCE), out_tag(from->MPI_TAG),
			out_code(from->MPI_ERROR),
			{ from->count_lo, from->count_hi_and_cancelled } };
}

static inline MPI_Status in_status(const struct std_status *from)
{
	MPI_Status to = { 0 };
	if (from) {
		to.MPI_SOURCE = from->source;
		to.MPI_TAG = from->tag;
		to.count_lo = from->internal[0];
		to.count_hi_and_cancelled = from->internal[1];
	}
	return to;
}

// Kinds of parameters: a family and what it needs to know.
#define K_i            plain, int
#define K_ip           plain, int *
#define K_cip          plain, const int *
#define K_a            plain, MPI_Aint
#define K_ap           plain, MPI_Aint *
#define K_cap          plain, const MPI_Aint *
#define K_np           plain, MPI_Count *
#define K_p            plain, void *
#define K_cp           plain, const void *
#define K_s            plain, char *
#define K_cs           plain, const char *
#define K_buf          buffer, // it may be MPI_IN_PLACE
#define K_mode         number, mode
#define K_rank         number, rank
#define K_tag          number, tag
#define K_lock         number, lock
#define K_keyval       number, keyval
#define K_split        number, split
#define K_order        number, order
#define K_code         number, code
#define K_level        number, level
#define K_code_p       written, class
#define K_level_p      written, level
#define K_compare_p    written, compare
#define K_combiner_p   written, combiner
#define K_keyval_p     replaced, keyval
#define K_comm         handle, comm
#define K_group        handle, group
#define K_win          handle, win
#define K_info         handle, info
#define K_errhandler   handle, errhandler
#define K_request      handle, request
#define K_op           handle, op
#define K_type         handle, type
#define K_comm_p       changed, comm // a handle that is read and written
#define K_group_p      changed, group
#define K_win_p        changed, win
#define K_info_p       changed, info
#define K_errhandler_p changed, errhandler
#define K_request_p    changed, request
#define K_op_p         changed, op
#define K_type_p       changed, type
#define K_status_p     status, *
#define K_status_c     read_status, const *

// By family, T: the type in the standard; B: what is declared before the call; P: what is passed;
// A: what is done after it.
#define T_plain(s)       s
#define T_buffer(s)      const void *
#define T_number(s)      int
#define T_written(s)     int *
#define T_replaced(s)    int *
#define T_handle(s)      std
#define T_changed(s)     std *
#define T_status(s)      struct std_status *
#define T_read_status(s) const struct std_status *

#define B_plain(s, n)
#define B_buffer(s, n)
#define B_number(s, n)
#define B_written(s, n)     int native_##n = 0;
#define B_replaced(s, n)    int native_##n = in_##s(*n);
#define B_handle(s, n)
#define B_changed(s, n)     int native_##n = in_##s(HANDLE_BEFORE(*n));
#define B_status(s, n)      MPI_Status native_##n = in_status(n);
#define B_read_status(s, n) MPI_Status native_##n = in_status(n);

#define P_plain(s, n)       n
#define P_buffer(s, n)      (n == (void *)1 ? MPI_IN_PLACE : n)
#define P_number(s, n)      in_##s(n)
#define P_written(s, n)     &native_##n
#define P_replaced(s, n)    &native_##n
#define P_handle(s, n)      in_##s(n)
#define P_changed(s, n)     &native_##n
#define P_status(s, n)      &native_##n
#define P_read_status(s, n) &native_##n

#define A_plain(s, n)
#define A_buffer(s, n)
#define A_number(s, n)
#define A_written(s, n)     *n = out_##s(native_##n);
#define A_replaced(s, n)    *n = out_##s(native_##n);
#define A_handle(s, n)
#define A_changed(s, n)     *n = out_##s(native_##n);
#define A_status(s, n)      out_status(n, &native_##n);
#define A_read_status(s, n)

#define BY_FAMILY_2(M, family, ...) M##_##family(__VA_ARGS__)
#define BY_FAMILY(M, ...)           BY_FAMILY_2(M, __VA_ARGS__)
#define DECLARE(kind, n)            BY_FAMILY(T, K_##kind) n
#define BEFORE(kind, n)             BY_FAMILY(B, K_##kind, n)
#define PASS(kind, n)               BY_FAMILY(P, K_##kind, n)
#define AFTER(kind, n)              BY_FAMILY(A, K_##kind, n)

#endif
