/*
 * blocks.c - the copy of medium sizes behind k_copy. Must not know shapes.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "blocks.h"

#include "clones.h"

K_CLONES void k_copy_blocks(void *dst, const void *src, size_t n) { k_blocks(dst, src, n); }
