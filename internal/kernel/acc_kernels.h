/*
 * acc_kernels.h - what the accumulate files of this directory share. Must not be included outside
 * it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LIBARMCI_KERNEL_ACC_KERNELS_H
#define LIBARMCI_KERNEL_ACC_KERNELS_H

#include "kernel.h"

/* k_adder adds scale * src to dst for `rows` rows of n elements each, dstep and sstep bytes from
 * one to the next, in order. */
typedef void (*k_adder)(char *dst, int64_t dstep, const char *src, int64_t sstep, const void *scale,
	size_t n, size_t rows);

#pragma GCC visibility push(hidden)

/* k_adder_for picks the loop for a type and a scale: NULL if the type has no accumulate. */
k_adder k_adder_for(int type, const void *scale);

/* k_adder_of_one picks the function for one element of an accumulate type: steps, n and rows are
 * not looked at. */
k_adder k_adder_of_one(int type);

#pragma GCC visibility pop

#endif
