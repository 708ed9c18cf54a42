/*
 * segment.h - the types of contiguous memory that all of the library's C shares. Go has them as
 * kernel.Segment, kernel.Run and window.Run.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef LIBARMCI_KERNEL_SEGMENT_H
#define LIBARMCI_KERNEL_SEGMENT_H

#include <stdint.h>

/* k_segment is contiguous memory. It has the layout of struct iovec. */
struct k_segment {
	uintptr_t addr;
	int64_t   bytes;
};

/* k_run is memory that is contiguous on both sides of a transfer. */
struct k_run {
	uintptr_t local, remote;
	int64_t   bytes;
};

/* k_span is contiguous memory of an element of a datatype, from where the element begins. */
struct k_span {
	int64_t offset, bytes;
};

#endif
