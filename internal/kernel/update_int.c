/*
 * update_int.c - the operators of update.h on integers, logicals and bytes. Must not lock.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Signed and unsigned integers share all operators but maximum and minimum. Everything else is
 * computed unsigned, in at least the bits of an int, so that it wraps; logical operators give 0
 * or 1. Fortran's .true. is 1 as gfortran stores it. Each loop is compiled per instruction set,
 * also of small integers: arrays of MPI_CHAR are long.
 */
#include "update_ops.h"

#define WRAPPING(CLONES, N, V)                                               \
	UPDATE(CLONES, u##N##_sum, k_u##N##_at, V, x + y)                    \
	UPDATE(CLONES, u##N##_prod, k_u##N##_at, V, x * y)                   \
	UPDATE(CLONES, u##N##_band, k_u##N##_at, V, x & y)                   \
	UPDATE(CLONES, u##N##_bor, k_u##N##_at, V, x | y)                    \
	UPDATE(CLONES, u##N##_bxor, k_u##N##_at, V, x ^ y)                   \
	UPDATE(CLONES, u##N##_land, k_u##N##_at, V, (x != 0) & (y != 0))     \
	UPDATE(CLONES, u##N##_lor, k_u##N##_at, V, (x != 0) | (y != 0))      \
	UPDATE(CLONES, u##N##_lxor, k_u##N##_at, V, (x != 0) ^ (y != 0))

#define ORDERED(CLONES, NAME, V)                                             \
	UPDATE(CLONES, NAME##_max, k_##NAME##_at, V, y > x ? y : x)          \
	UPDATE(CLONES, NAME##_min, k_##NAME##_at, V, y < x ? y : x)

WRAPPING(K_CLONES_SMALL, 8, unsigned)
WRAPPING(K_CLONES_SMALL, 16, unsigned)
WRAPPING(K_CLONES, 32, uint32_t)
WRAPPING(K_CLONES, 64, uint64_t)
ORDERED(K_CLONES_SMALL, i8, int)
ORDERED(K_CLONES_SMALL, u8, unsigned)
ORDERED(K_CLONES_SMALL, i16, int)
ORDERED(K_CLONES_SMALL, u16, unsigned)
ORDERED(K_CLONES, i32, int32_t)
ORDERED(K_CLONES, u32, uint32_t)
ORDERED(K_CLONES, i64, int64_t)
ORDERED(K_CLONES, u64, uint64_t)

#define LOGICAL(N) OP(K_U_LAND, u##N##_land), OP(K_U_LOR, u##N##_lor), OP(K_U_LXOR, u##N##_lxor)
#define BITWISE(N) OP(K_U_BAND, u##N##_band), OP(K_U_BOR, u##N##_bor), OP(K_U_BXOR, u##N##_bxor)
#define INTEGER(NAME, N) \
	{ \
		OP(K_U_SUM, u##N##_sum), OP(K_U_PROD, u##N##_prod), OP(K_U_MAX, NAME##_max), \
			OP(K_U_MIN, NAME##_min), LOGICAL(N), BITWISE(N) \
	}

k_update_row k_update_i8 = INTEGER(i8, 8);
k_update_row k_update_u8 = INTEGER(u8, 8);
k_update_row k_update_i16 = INTEGER(i16, 16);
k_update_row k_update_u16 = INTEGER(u16, 16);
k_update_row k_update_i32 = INTEGER(i32, 32);
k_update_row k_update_u32 = INTEGER(u32, 32);
k_update_row k_update_i64 = INTEGER(i64, 64);
k_update_row k_update_u64 = INTEGER(u64, 64);
k_update_row k_update_l8 = { LOGICAL(8) };
k_update_row k_update_l16 = { LOGICAL(16) };
k_update_row k_update_l32 = { LOGICAL(32) };
k_update_row k_update_l64 = { LOGICAL(64) };
k_update_row k_update_bits = { BITWISE(8) };
