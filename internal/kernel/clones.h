/*
 * clones.h - how arithmetic loops are compiled, private to this directory.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * K_CLONES compiles a function once per instruction set where that can be (K_BY_CPU), and
 * K_CLONES_SMALL one for elements of 1 and 2 bytes. All clones give the same bits:
 * the files are compiled as -std=c11, where GCC does not fuse multiplication and addition.
 * K_SAME_OR_APART, before a loop, says that an array written is one read or does not touch it.
 * The k_*_at types are elements at any address: unaligned, and aliasing whatever the user stored
 * there.
 */
#ifndef LIBARMCI_KERNEL_CLONES_H
#define LIBARMCI_KERNEL_CLONES_H

#include "kernel.h"

#ifdef K_BY_CPU
#define K_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define K_CLONES
#endif

/* Elements of 1 and 2 bytes in registers of AVX-512 need its part BW, which target_clones knows
 * as a level of x86-64 only. */
#if defined(K_BY_CPU) && !defined(__clang__) && __GNUC__ >= 12
#define K_CLONES_SMALL __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define K_CLONES_SMALL K_CLONES
#endif

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif !defined(__STRICT_ANSI__)
#error "compile with -std=c11: results must not depend on fused multiply-add"
#endif

#if defined(__clang__)
#define K_SAME_OR_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define K_SAME_OR_APART _Pragma("GCC ivdep")
#endif

#define K_ANYWHERE __attribute__((aligned(1), may_alias))

typedef int           k_int_at K_ANYWHERE;
typedef unsigned      k_uint_at K_ANYWHERE;
typedef long          k_lng_at K_ANYWHERE;
typedef unsigned long k_ulng_at K_ANYWHERE;
typedef float         k_flt_at K_ANYWHERE;
typedef double        k_dbl_at K_ANYWHERE;

_Static_assert(sizeof(long) == sizeof(long long), "K_LLNG is handled as K_LNG");

#endif
