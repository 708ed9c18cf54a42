/*
 * cursor.h - a position in a transfer's memory, private to this directory: cursor.c moves it,
 * cursor.go is its Go side.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A cursor stands in memory that is rows of `row` bytes: at constant distances, on one level or
 * several, or where a list of addresses says. Contiguous memory is one row. A list is an argument
 * of its own, of one level without steps, because the cursor lives in Go's memory, which must not
 * hold pointers that C reads. No call may go beyond the end.
 */
#ifndef LIBARMCI_KERNEL_CURSOR_H
#define LIBARMCI_KERNEL_CURSOR_H

#include "kernel.h"

struct k_cursor {
	uintptr_t addr;                /* of the row that the cursor is in; unused with a list */
	int64_t   left;                /* bytes from the cursor to the end */
	int64_t   row;                 /* bytes of a row */
	int64_t   off;                 /* bytes of this row before the cursor, less than row */
	int64_t   levels;              /* at least 1, except in a cursor of nothing */
	int64_t   count[K_MAX_LEVELS]; /* rows (level 0) or blocks of the level below */
	int64_t   step[K_MAX_LEVELS];  /* bytes from one to the next */
	int64_t   at[K_MAX_LEVELS];    /* how many of count are before the cursor */
};

/* k_part is a piece of the memory that is one shape: levels steps and levels+1 counts. Of a list,
 * the piece is count[1] segments if levels is 1. */
struct k_part {
	uintptr_t addr;
	int64_t   bytes;
	int64_t   levels;
	int       count[K_MAX_LEVELS + 1];
	int       stride[K_MAX_LEVELS];
};

/* k_side is one side of a transfer: a cursor and its list, or NULL. */
struct k_side {
	struct k_cursor *c;
	const uintptr_t *list;
};

#pragma GCC visibility push(hidden)

/* k_cursor_strided begins a shape, in its normal form. */
void k_cursor_strided(struct k_cursor *c, uintptr_t base, const int *stride, const int *count,
	int levels);

/* k_cursor_pack copies the next n bytes to buf, k_cursor_unpack copies them from buf; both move
 * behind them. */
void k_cursor_pack(struct k_cursor *c, const uintptr_t *list, void *buf, int64_t n);
void k_cursor_unpack(struct k_cursor *c, const uintptr_t *list, const void *buf, int64_t n);

/* k_cursor_skip moves n bytes forward. */
void k_cursor_skip(struct k_cursor *c, int64_t n);

/* k_cursor_next finds the largest part at the cursor of at most room bytes, in whole grains, and
 * moves behind it. */
void k_cursor_next(struct k_cursor *c, const uintptr_t *list, int64_t room, int64_t grain,
	struct k_part *part);

/* k_cursor_pieces lists what is contiguous from the cursor on, up to limit bytes, and moves behind
 * it. used of max pieces are there already; the last is continued if memory touches it. Gives how
 * many are there afterwards. */
size_t k_cursor_pieces(struct k_cursor *c, const uintptr_t *list, struct k_segment *p, size_t used,
	size_t max, int64_t limit);

/* k_cursor_runs is k_cursor_pieces for two sides at once. It ends where the first side does. */
size_t k_cursor_runs(struct k_side local, struct k_side remote, struct k_run *r, size_t used,
	size_t max, int64_t limit);

#pragma GCC visibility pop

#endif
