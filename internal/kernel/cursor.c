/*
 * cursor.c - walks memory of any shape from a position on: packs, unpacks, lists what is
 * contiguous. Must not do arithmetic on data.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "cursor.h"

#include "walk.h"

void k_cursor_strided(struct k_cursor *c, uintptr_t base, const int *stride, const int *count,
	int levels)
{
	struct k_walk w;

	k_walk_init(&w, stride, stride, count, levels);
	c->addr = base;
	c->left = k_volume(count, levels);
	c->row = w.row;
	c->off = 0;
	c->levels = w.levels > 0 ? w.levels : 1;
	for (int i = 0; i < c->levels; i++) {
		c->count[i] = w.count[i];
		c->step[i] = w.a[i];
		c->at[i] = 0;
	}
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static char *here(const struct k_cursor *c, const uintptr_t *list)
{
	return (char *)(list ? list[c->at[0]] : c->addr) + c->off;
}

/* pass moves n rows forward, at most to the end of level 0. off is 0. */
static void pass(struct k_cursor *c, int64_t n)
{
	c->at[0] += n;
	c->addr += (uintptr_t)c->step[0] * (uintptr_t)n;
	for (int i = 0; c->at[i] == c->count[i] && i + 1 < c->levels; i++) {
		c->at[i] = 0;
		c->at[i + 1]++;
		c->addr += (uintptr_t)c->step[i + 1] -
			(uintptr_t)c->step[i] * (uintptr_t)c->count[i];
	}
}

/* pass_bytes moves n bytes forward, at most to the end of the row. */
static void pass_bytes(struct k_cursor *c, int64_t n)
{
	c->left -= n;
	c->off += n;
	if (c->off == c->row) {
		c->off = 0;
		pass(c, 1);
	}
}

/* whole_rows is how many rows of level 0, from the cursor on, fit in n bytes. */
static int64_t whole_rows(const struct k_cursor *c, int64_t n)
{
	int64_t rows = c->count[0] - c->at[0];

	return rows <= n / c->row ? rows : n / c->row;
}

/* transfer copies n bytes from the cursor on to buf, or the other way. */
static inline __attribute__((always_inline)) void transfer(struct k_cursor *c,
	const uintptr_t *list, char *buf, int64_t n, int store)
{
	while (n > 0) {
		int64_t part = least(c->row - c->off, n), rows;
		char   *mem = here(c, list);

		if (part < c->row || c->count[0] == 1) {
			k_copy(store ? mem : buf, store ? buf : mem, (size_t)part);
			pass_bytes(c, part);
		} else {
			rows = whole_rows(c, n);
			part = rows * c->row;
			if (list && store)
				k_unpack_vector((void *const *)(list + c->at[0]), (size_t)c->row,
					(size_t)rows, buf);
			else if (list)
				k_pack_vector((void *const *)(list + c->at[0]), (size_t)c->row,
					(size_t)rows, buf);
			else if (store)
				k_plane(mem, c->step[0], buf, c->row, (size_t)c->row, rows);
			else
				k_plane(buf, c->row, mem, c->step[0], (size_t)c->row, rows);
			c->left -= part;
			pass(c, rows);
		}
		buf += part;
		n -= part;
	}
}

void k_cursor_pack(struct k_cursor *c, const uintptr_t *list, void *buf, int64_t n)
{
	transfer(c, list, buf, n, 0);
}

void k_cursor_unpack(struct k_cursor *c, const uintptr_t *list, const void *buf, int64_t n)
{
	transfer(c, list, (char *)buf, n, 1);
}

void k_cursor_skip(struct k_cursor *c, int64_t n)
{
	int64_t forward = c->off + n, more;

	c->left -= n;
	if (forward < c->row) {
		c->off = forward;
		return;
	}
	c->off = forward % c->row;
	more = forward / c->row;
	for (int i = 0; more > 0; i++) {
		int64_t was = c->at[i], at = was + more;

		more = 0;
		if (i + 1 < c->levels) {
			more = at / c->count[i];
			at %= c->count[i];
		}
		c->at[i] = at;
		c->addr += (uintptr_t)c->step[i] * (uintptr_t)(at - was);
	}
}

/* level_of finds the highest level of which a whole block begins at the cursor and fits in room: 0
 * if not even a row does. unit is the bytes of that block. */
static int level_of(const struct k_cursor *c, int64_t room, int64_t *unit)
{
	int level = 1;

	*unit = 1;
	if (c->off > 0 || c->row > room)
		return 0;
	for (*unit = c->row; level < c->levels && c->at[level - 1] == 0; level++) {
		if (c->count[level - 1] > room / *unit)
			break;
		*unit *= c->count[level - 1];
	}
	return level;
}

void k_cursor_next(struct k_cursor *c, const uintptr_t *list, int64_t room, int64_t grain,
	struct k_part *part)
{
	int64_t unit, n;
	int     level;

	room = least(least(room, INT32_MAX), c->left);
	part->addr = (uintptr_t)here(c, list);
	level = level_of(c, room, &unit);
	if (level == 0) {
		n = least(c->row - c->off, room);
		n -= n % grain;
		part->count[0] = (int)n;
	} else {
		n = least(c->count[level - 1] - c->at[level - 1], room / unit);
		if (level == 1 && !list && c->step[0] != (int)c->step[0])
			n = 1; /* a step that no shape can have: row by row */
		part->count[0] = (int)c->row;
		for (int i = 0; i < level; i++) {
			part->count[i + 1] = (int)(i + 1 < level ? c->count[i] : n);
			part->stride[i] = (int)c->step[i];
		}
		if (n == 1)
			level--;
	}
	part->levels = level;
	part->bytes = n * unit;
	k_cursor_skip(c, part->bytes);
}

size_t k_cursor_pieces(struct k_cursor *c, const uintptr_t *list, struct k_segment *p, size_t used,
	size_t max, int64_t limit)
{
	while (limit > 0 && c->left > 0) {
		uintptr_t at = (uintptr_t)here(c, list);
		int64_t   n = least(c->row - c->off, limit);

		if (used > 0 && p[used - 1].addr + (uintptr_t)p[used - 1].bytes == at)
			p[used - 1].bytes += n;
		else if (used < max)
			p[used++] = (struct k_segment){ at, n };
		else
			break;
		pass_bytes(c, n);
		limit -= n;
	}
	return used;
}

size_t k_cursor_runs(struct k_side local, struct k_side remote, struct k_run *r, size_t used,
	size_t max, int64_t limit)
{
	struct k_cursor *a = local.c, *b = remote.c;

	while (limit > 0 && a->left > 0 && b->left > 0) {
		uintptr_t at = (uintptr_t)here(a, local.list), to = (uintptr_t)here(b, remote.list);
		int64_t       n = least(least(a->row - a->off, b->row - b->off), limit);
		struct k_run *last = used > 0 ? &r[used - 1] : NULL;

		if (last && last->local + (uintptr_t)last->bytes == at &&
			last->remote + (uintptr_t)last->bytes == to)
			last->bytes += n;
		else if (used < max)
			r[used++] = (struct k_run){ at, to, n };
		else
			break;
		pass_bytes(a, n);
		pass_bytes(b, n);
		limit -= n;
	}
	return used;
}
