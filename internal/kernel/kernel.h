/*
 * kernel.h - what happens to bytes: copies, strided walks, packing, accumulate and reductions.
 *
 * This is the only code of the project that walks a strided shape or does arithmetic on user data.
 * The C front door, the shared-memory transport and (through the Go wrapper) core all call it. It
 * must not know ranks, regions, handles or transports, must not allocate, log or report errors:
 * callers check arguments first. It keeps no state of its own.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Conventions, valid for every function below:
 *   - Sizes, strides and the first count are bytes; other counts are numbers of blocks. A shape has
 *     `levels` strides (0..K_MAX_LEVELS) and levels+1 counts; a count of zero (or less) means that
 *     there is nothing to do. Strides may be negative, zero, or unrelated to each other. With 0
 *     levels the stride array may be NULL.
 *   - Any address may be unaligned. Source and destination must not overlap (accumulate: may be the
 *     same address). Blocks are visited in order, the first level fastest, so that the last writer
 *     of a byte is well defined.
 *   - All functions may be called from any thread at any time; the caller keeps the memory alive
 *     during the call.
 *   - Floating-point results are those of the plain C expression without fused multiply-add, on
 *     every machine. (The kernels are compiled as -std=c11, which means that to GCC; the inline
 *     accumulate is safe in any mode.)
 */
#ifndef LIBARMCI_KERNEL_H
#define LIBARMCI_KERNEL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define K_MAX_LEVELS   8   /* most strides of a shape, ARMCI_MAX_STRIDE_LEVEL */
#define K_DEVICE_WORD 2    /* where in a line a device's lock is, in words */
/* of one transfer: more can only be rows that lie upon each other */
#define K_MOST_BYTES   ((int64_t)1 << 46)
#define K_STRIPE_SHIFT 15  /* log2 of the bytes that one accumulate lock covers */

/* K_BY_CPU: functions can be compiled once per instruction set, and the loader picks one (ifunc).
 * The thread sanitizer cannot run inside a resolver. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define K_BY_CPU     1
#define K_BLOCKS_MAX 16384 /* most bytes that our own loop copies; beyond that memcpy is as fast */
#else
#define K_BLOCKS_MAX 0     /* memcpy knows the machine, we do not */
#endif
#define K_BLOCKS_MIN 512   /* below that memcpy has fewer branches, and is as fast */

#pragma GCC visibility push(hidden)

/* Element types. Accumulate takes the first six; reductions take all. */
enum k_type {
	K_INT,  /* int */
	K_LNG,  /* long */
	K_FLT,  /* float */
	K_DBL,  /* double */
	K_CPL,  /* struct { float re, im; } */
	K_DCP,  /* struct { double re, im; } */
	K_LLNG, /* long long */
	K_NTYPES
};

/* Reduction operators. Bitwise ones act on integer types only; ordering ones not on complex. See
 * k_reduce_valid. */
enum k_red {
	K_SUM,
	K_PROD,
	K_MAX,
	K_MIN,
	K_ABSMAX, /* greatest absolute value; the result is an absolute value */
	K_ABSMIN, /* least absolute value; the result is an absolute value */
	K_BOR,
	K_BAND,
	K_LOR,  /* logical: the result is 0 or 1 */
	K_LAND, /* logical: the result is 0 or 1 */
	K_NRED
};

/* k_type_of_acc gives the element type of an ARMCI_ACC_* code of either numbering (37..42 or 0..5),
 * -1 if unknown. */
int k_type_of_acc(int optype);

/* k_type_of_message gives the element type of ARMCI_INT..ARMCI_DOUBLE of either numbering
 * (words.c), -1 if unknown. */
int k_type_of_message(int code);

/* k_red_of_word gives the operator that the beginning of a word names, as in armci_msg_dgop, -1 if
 * none. */
int k_red_of_word(const char *word);

/* k_type_size gives the bytes of one element, 0 if the type is unknown. */
size_t k_type_size(int type);

/* k_segment is contiguous memory. It has the layout of struct iovec. */
struct k_segment {
	uintptr_t addr;
	int64_t   bytes;
};

/* ---- shapes ---------------------------------------------------------------------------------- */

/* k_volume gives the bytes of a shape in all: 0 if a count is zero or negative, INT64_MAX if they
 * do not fit. */
int64_t k_volume(const int *count, int levels);

/* k_extent gives the volume of a shape and the bytes that it touches relative to its base address,
 * [*lo, *hi): *lo is 0 or negative. An empty shape touches [0, 0). Values that do not fit are
 * INT64_MIN and INT64_MAX. */
int64_t k_extent(const int *stride, const int *count, int levels, int64_t *lo, int64_t *hi);

/* ---- copies ---------------------------------------------------------------------------------- */

/* k_copy copies n bytes. Inline: up to 64 bytes with a few moves, more with memcpy, K_BLOCKS_MIN to
 * K_BLOCKS_MAX bytes with k_copy_blocks. */
static inline void k_copy(void *dst, const void *src, size_t n);

/* k_copy_blocks copies n bytes, at least 64, by our own loop. */
void k_copy_blocks(void *dst, const void *src, size_t n);

/* k_copy_strided copies a shape between two places with different strides. */
void k_copy_strided(const void *src, const int *sstride, void *dst, const int *dstride,
	const int *count, int levels);

/* k_pack gathers a shape into k_volume(count, levels) contiguous bytes at buf, first level fastest.
 */
void k_pack(const void *src, const int *stride, const int *count, int levels, void *buf);

/* k_unpack scatters contiguous bytes at buf into a shape: the inverse of k_pack. */
void k_unpack(void *dst, const int *stride, const int *count, int levels, const void *buf);

/* k_copy_vector copies n segments of `bytes` bytes each, src[i] to dst[i], in order. */
void k_copy_vector(void *const *src, void *const *dst, size_t bytes, size_t n);

/* k_pack_vector gathers n segments of `bytes` bytes each into contiguous memory at buf. */
void k_pack_vector(void *const *src, size_t bytes, size_t n, void *buf);

/* k_unpack_vector scatters contiguous bytes at buf into n segments: the inverse of k_pack_vector.
 */
void k_unpack_vector(void *const *dst, size_t bytes, size_t n, const void *buf);

/* k_span finds the lowest and the highest of n > 0 addresses, as signed numbers: those of a process
 * are positive. */
void k_span(void *const *p, size_t n, int64_t *lowest, int64_t *highest);

/* ---- accumulate: dst += scale * src ---------------------------------------------------------- */

typedef _Atomic uint32_t k_lock_word; /* of a stripe: 0, or the `owner` that holds it */

/*
 * k_stripes describes the accumulate locks, words in memory shared by all processes that accumulate
 * into one place.
 *
 *   stripe of an address (address >> K_STRIPE_SHIFT) & mask, hence all processes map the target at
 *   one address its lock word word[stripe * pitch_words]; 0 = free, else the `owner` value of the
 *   holder (its rank + 1)
 *   lock, unlock           compare-and-swap 0 -> owner (acquire); plain store of 0 (release)
 *
 * An element belongs to the stripe of its first byte. At most one stripe is held at a time, and its
 * holder waits for no other; a caller that needs several takes them in ascending order
 * (k_stripes_hold_runs in update.h). So there is no deadlock, and a word that stays nonzero belongs
 * to a process that is stopped or dead, or to one that waits for such a process.
 *
 * With `device` set, network devices take stripes as well, on behalf of other machines. Their
 * atomics are none towards processors, so they have a word of their own, 64 bits at word[... +
 * K_DEVICE_WORD], 0 = free. Each side takes its word first and looks at the other's afterwards: a
 * processor that finds the device's taken gives its own back and waits, a device keeps its word and
 * waits until the processor's is free.
 */
struct k_stripes {
	k_lock_word *word;
	uint32_t  mask;        /* number of stripes - 1; a power of two minus one */
	/* distance of two stripes' words, in words: one or more cache lines */
	uint32_t  pitch_words;
	uint32_t  owner;       /* nonzero */
	/* nonzero: a line has the words of both; pitch_words is at least 4 */
	uint32_t  device;
};

/*
 * k_acc adds scale * src to dst element by element; nbytes is a multiple of the element size (a
 * rest is ignored). Atomic per element against every other k_acc* call through the same lock words;
 * not against plain loads and stores. Integers wrap; complex types multiply fully; a scale of
 * exactly 1 (complex: 1+0i) adds without multiplying. scale points to one element of the type. st
 * == NULL: no locks, the caller knows that no other thread accumulates there.
 */
void k_acc(const struct k_stripes *st, int type, const void *scale, void *dst, const void *src,
	size_t nbytes);

/* k_acc_raw is k_acc without locks: vectorised arithmetic. */
void k_acc_raw(int type, const void *scale, void *dst, const void *src, size_t nbytes);

/* k_acc_small does k_acc for exactly one element inline, with one compare-and-swap, and returns 1.
 * It returns 0 and has done nothing when there is not exactly one element or the stripe is taken at
 * the moment: then call k_acc. st may not be NULL. */
static inline int k_acc_small(const struct k_stripes *st, int type, const void *scale, void *dst,
	const void *src, size_t nbytes);

/* k_acc_strided accumulates a shape; count[0] is a multiple of the element size. */
void k_acc_strided(const struct k_stripes *st, int type, const void *scale, const void *src,
	const int *sstride, void *dst, const int *dstride, const int *count, int levels);

/* k_acc_vector accumulates n segments of `bytes` bytes each; segments may overlap or repeat and all
 * are added. */
void k_acc_vector(const struct k_stripes *st, int type, const void *scale, void *const *src,
	void *const *dst, size_t bytes, size_t n);

/* k_lock_wait takes a lock word that was found taken: spins briefly, then yields, then sleeps up to
 * 1 ms at a time. */
void k_lock_wait(k_lock_word *word, uint32_t owner);

/* k_lock_beside_device returns with the word still held, or held again, and no device in the
 * stripe. */
void k_lock_beside_device(k_lock_word *word, uint32_t owner);

/* ---- reductions ------------------------------------------------------------------------------ */

/* k_reduce_valid tells (1 or 0) whether the operator is defined for the type. */
int k_reduce_valid(int red, int type);

/* k_reduce sets inout = inout (red) in for nelem elements. Undefined combinations do nothing. */
void k_reduce(int red, int type, void *inout, const void *in, size_t nelem);

/* k_reduce_to sets out = left (red) right for nelem elements; out may be left or right. Undefined:
 * does nothing. */
void k_reduce_to(int red, int type, void *out, const void *left, const void *right, size_t nelem);

/* k_reduce_finish does what one contribution alone still needs: absolute values for K_ABSMAX and
 * K_ABSMIN, 0 or 1 for K_LOR and K_LAND. Applying it to the result of k_reduce changes nothing. */
void k_reduce_finish(int red, int type, void *x, size_t nelem);

#pragma GCC visibility pop

#include "copy.h"
#include "acc_small.h"

#endif
