/*
 * runs.h - copies between flattened datatypes. Same rules as kernel.h.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LIBARMCI_KERNEL_RUNS_H
#define LIBARMCI_KERNEL_RUNS_H

#include "kernel.h"

#pragma GCC visibility push(hidden)

/* k_runs describes memory: element i has, from i * extent on, n runs of `bytes` bytes (at least 1)
 * at `offset` each. */
struct k_runs {
	const struct k_span *run;
	int64_t              n, extent;
};

/* k_copy_runs copies the first nbytes bytes of one side to the other, each in the order of its
 * runs, elements as needed. Blocks of 1, 2, 4 or 8 bytes are single stores where both sides are
 * aligned. */
void k_copy_runs(void *dst, const struct k_runs *to, const void *src, const struct k_runs *from,
	int64_t nbytes);

#pragma GCC visibility pop

#endif
