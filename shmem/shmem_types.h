/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem_types.h: the types of OpenSHMEM's typed functions, as lists: X is called with the name of a
 * type in functions and the type. It must hold lists only. Part of shmem.h.
 */
#ifndef SHMEM_TYPES_H_
#define SHMEM_TYPES_H_

#ifdef __cplusplus
__extension__ typedef double _Complex shmem_complexd_;
__extension__ typedef float _Complex shmem_complexf_;
#else
typedef double _Complex shmem_complexd_;
typedef float _Complex shmem_complexf_;
#endif

/* Integers of the language, signed and unsigned, of at least 4 bytes. */
#define SHMEM_LANGUAGE_INTS_(X) \
	X(int, int) \
	X(long, long) \
	X(longlong, long long) \
	X(uint, unsigned int) \
	X(ulong, unsigned long) \
	X(ulonglong, unsigned long long)

/* Integers by size, of 4 and 8 bytes. */
#define SHMEM_SIZED_INTS_(X) \
	X(int32, int32_t) \
	X(int64, int64_t) \
	X(uint32, uint32_t) \
	X(uint64, uint64_t)

/* Standard types of atomic operations; those of fetch, set and swap; of the bitwise ones. */
#define SHMEM_AMO_TYPES_(X) \
	SHMEM_LANGUAGE_INTS_(X) \
	SHMEM_SIZED_INTS_(X) \
	X(size, size_t) \
	X(ptrdiff, ptrdiff_t)
#define SHMEM_EXTENDED_AMO_TYPES_(X) SHMEM_AMO_TYPES_(X) X(float, float) X(double, double)
#define SHMEM_BITWISE_AMO_TYPES_(X) \
	X(uint, unsigned int) \
	X(ulong, unsigned long) \
	X(ulonglong, unsigned long long) \
	SHMEM_SIZED_INTS_(X)

/* Types that are waited for. */
#define SHMEM_SYNC_TYPES_(X) SHMEM_AMO_TYPES_(X) X(short, short) X(ushort, unsigned short)

/* Integers of less than 4 bytes. */
#define SHMEM_SMALL_INTS_(X) \
	X(short, short) \
	X(uchar, unsigned char) \
	X(ushort, unsigned short) \
	X(int8, int8_t) \
	X(int16, int16_t) \
	X(uint8, uint8_t) \
	X(uint16, uint16_t)
#define SHMEM_REALS_(X) X(float, float) X(double, double) X(longdouble, long double)

/* Standard types of remote memory access. */
#define SHMEM_RMA_TYPES_(X) \
	SHMEM_REALS_(X) \
	X(char, char) \
	X(schar, signed char) \
	SHMEM_SMALL_INTS_(X) \
	SHMEM_AMO_TYPES_(X)

/* Types of reductions: by bits; of maxima and minima; of sums and products. */
#define SHMEM_BITWISE_REDUCE_TYPES_(X) \
	X(uchar, unsigned char) \
	X(ushort, unsigned short) \
	X(uint, unsigned int) \
	X(ulong, unsigned long) \
	X(ulonglong, unsigned long long) \
	X(int8, int8_t) \
	X(int16, int16_t) \
	X(uint8, uint8_t) \
	X(uint16, uint16_t) \
	SHMEM_SIZED_INTS_(X) \
	X(size, size_t)
#define SHMEM_MINMAX_REDUCE_TYPES_(X) SHMEM_RMA_TYPES_(X)
#define SHMEM_ARITHMETIC_REDUCE_TYPES_(X) \
	SHMEM_RMA_TYPES_(X) \
	X(complexd, shmem_complexd_) \
	X(complexf, shmem_complexf_)

/* Types of the deprecated reductions over active sets. */
#define SHMEM_BITWISE_TO_ALL_TYPES_(X) \
	X(short, short) \
	X(int, int) \
	X(long, long) \
	X(longlong, long long)
#define SHMEM_MINMAX_TO_ALL_TYPES_(X) SHMEM_BITWISE_TO_ALL_TYPES_(X) SHMEM_REALS_(X)
#define SHMEM_ARITHMETIC_TO_ALL_TYPES_(X) \
	SHMEM_MINMAX_TO_ALL_TYPES_(X) \
	X(complexd, shmem_complexd_) \
	X(complexf, shmem_complexf_)

/* Types of the deprecated names of atomic operations, and of those of fetch, set and swap. */
#define SHMEM_OLD_AMO_TYPES_(X) X(int, int) X(long, long) X(longlong, long long)
#define SHMEM_OLD_EXTENDED_AMO_TYPES_(X) SHMEM_OLD_AMO_TYPES_(X) X(float, float) X(double, double)

#endif
