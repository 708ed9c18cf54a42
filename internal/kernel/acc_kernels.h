/*
 * acc_kernels.h - what the accumulate files of this directory share. Must not be included outside it.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LIBARMCI_KERNEL_ACC_KERNELS_H
#define LIBARMCI_KERNEL_ACC_KERNELS_H

#include "kernel.h"

/* k_adder adds scale * src to dst for n elements (complex with scale 1: also n elements, inside it 2n numbers). */
typedef void (*k_adder)(void *dst, const void *src, const void *scale, size_t n);

#pragma GCC visibility push(hidden)

/* k_adder_for picks the loop for a type and a scale: NULL if the type has no accumulate. */
k_adder k_adder_for(int type, const void *scale);

/* k_adder_of_one picks the function for one element of an accumulate type: n is not looked at. */
k_adder k_adder_of_one(int type);

#pragma GCC visibility pop

#endif
