/*
 * update.h - accumulate with any operator on any type, fetching or not, and compare-and-swap: what
 * MPI's accumulate functions need beyond k_acc. Same rules as kernel.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LIBARMCI_KERNEL_UPDATE_H
#define LIBARMCI_KERNEL_UPDATE_H

#include "kernel.h"

#pragma GCC visibility push(hidden)

/* Element types. A pair is a struct { value; int index; } with C's padding; the Fortran pairs are
 * two of one type. */
enum k_update_type {
	K_I8, K_U8, K_I16, K_U16, K_I32, K_U32, K_I64, K_U64,
	K_F32, K_F64, K_F80,                   /* float, double, long double */
	K_C32, K_C64, K_C80,                   /* complex of these */
	K_BOOL,                                /* C bool: 1 byte, logical operators only */
	/* MPI_BYTE: 1 byte, bitwise operators, replace and no-op only */
	K_BYTES,
	/* Fortran LOGICAL of so many bits: logical operators only */
	K_L8, K_L16, K_L32, K_L64,
	/* pairs: float, double, long, int, short, long double, with int */
	K_F32_I, K_F64_I, K_L_I, K_2I, K_I16_I, K_F80_I,
	K_2F32, K_2F64, K_2I64,                /* pairs of two floats, doubles, 8-byte integers */
	K_UPDATE_TYPES
};

/*
 * Operators: dst = dst op src. As MPI says, sum and product are for integers, real and complex
 * numbers, maximum and minimum for integers and real numbers, logical ones for integers and
 * logicals, bitwise ones for integers and bytes, and the two with a place for pairs. Integers wrap.
 * A logical result is 0 or 1, and anything but 0 is true. A comparison with a NaN is false, and
 * leaves dst as it is.
 */
enum k_update_op {
	K_U_REPLACE,
	K_U_NOOP,
	K_U_SUM,
	K_U_PROD,
	K_U_MAX,
	K_U_MIN,
	K_U_LAND,
	K_U_LOR,
	K_U_LXOR,
	K_U_BAND,
	K_U_BOR,
	K_U_BXOR,
	K_U_MINLOC,
	K_U_MAXLOC, /* of equal values the lower index */
	K_UPDATE_OPS
};

/* k_update_bytes gives the bytes of one element in memory, padding included; 0 if the type is
 * unknown. */
size_t k_update_bytes(int type);

/* k_update_valid tells (1 or 0) whether an operator is defined for a type. REPLACE and NOOP are for
 * all. */
int k_update_valid(int op, int type);

/*
 * k_update does dst[i] = dst[i] op src[i] for n elements in a row; with old not NULL, old[i] is
 * what dst[i] was before. Atomic per element against every other k_update*, k_acc* and
 * k_compare_swap through the same lock words. src may be NULL for K_U_NOOP; src, dst and old may
 * have any alignment and must not overlap, but src and old may be equal. st NULL: no locks. What is
 * not defined does nothing. The padding of elements is not kept. One aligned element of 1, 2, 4 or
 * 8 bytes is stored once, so that others may look at it with a plain load.
 */
void k_update(const struct k_stripes *st, int op, int type, void *dst, const void *src, void *old,
	size_t n);

/* k_update_runs is k_update for the elements of n runs, one run after the other; src and old are
 * packed. A run has whole elements (a rest is ignored); 0 bytes are none, wherever. Runs may
 * overlap. */
void k_update_runs(const struct k_stripes *st, int op, int type, const struct k_segment *runs,
	size_t n, const void *src, void *old);

/* k_compare_swap stores value if the `bytes` (1 to 32, else nothing is done) bytes at dst equal
 * those at compare; old, if not NULL, gets what was there. compare, value and old may be equal. For
 * stripes, dst is one element. */
void k_compare_swap(const struct k_stripes *st, size_t bytes, void *dst, const void *compare,
	const void *value, void *old);

/* k_stripes_hold takes the lock of an address for memory that is changed by other means (of another
 * process, by the kernel), and k_stripes_drop gives it back. Only addresses of the same
 * 2^K_STRIPE_SHIFT bytes are covered. Without stripes (st NULL) it gives NULL, which may be
 * dropped. A holder must not wait for another stripe. */
k_lock_word *k_stripes_hold(const struct k_stripes *st, const void *dst);
void k_stripes_drop(k_lock_word *held);

/*
 * k_stripes_hold_runs is k_stripes_hold for n runs, of which each has elements of one stripe: it
 * puts the words that it took to `held`, room for n, and gives how many they are, for
 * k_stripes_drop_runs. Nothing else holds more than one stripe.
 *
 * There is no deadlock. Locks are taken in ascending order of their words, so a holder waits only
 * for a higher one, and the holder of the highest one that is waited for waits for none. A holder
 * of a single stripe waits for none. A device may have several, too, but keeps a word only until
 * the processors' word of the same stripe is free (kernel.h), whatever it has or wants besides; and
 * a processor that waits for a device does not hold the processors' word of that stripe meanwhile.
 */
size_t k_stripes_hold_runs(const struct k_stripes *st, const struct k_segment *runs, size_t n,
	k_lock_word **held);
void k_stripes_drop_runs(k_lock_word *const *held, size_t n);

#pragma GCC visibility pop

#endif
