/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies sections within the image's own memory. */
#include <string.h>

#include "caf.h"

#define ROW(type) \
	for (ptrdiff_t i = 0; i < n; i++, to += ts, from += fs) { \
		type value; \
		memcpy(&value, from, sizeof value); \
		memcpy(to, &value, sizeof value); \
	}

static void copy_row(char *to, ptrdiff_t ts, const char *from, ptrdiff_t fs, size_t elem,
	ptrdiff_t n)
{
	if (ts == (ptrdiff_t)elem && fs == (ptrdiff_t)elem) {
		memcpy(to, from, elem * (size_t)n);
		return;
	}
	switch (elem) {
	case 1: ROW(uint8_t) break;
	case 2: ROW(uint16_t) break;
	case 4: ROW(uint32_t) break;
	case 8: ROW(uint64_t) break;
	case 16: ROW(struct { uint64_t part[2]; }) break;
	default:
		for (ptrdiff_t i = 0; i < n; i++, to += ts, from += fs) memcpy(to, from, elem);
	}
}

static void copy_level(const struct caf_levels *v, int level, char *to, const char *from)
{
	if (level == 0) {
		copy_row(to, v->to_stride[0], from, v->from_stride[0], v->elem, v->count[0]);
		return;
	}
	for (ptrdiff_t i = 0; i < v->count[level];
		i++, to += v->to_stride[level], from += v->from_stride[level])
		copy_level(v, level - 1, to, from);
}

static void copy_levels(const struct caf_levels *v)
{
	if (v->n == 0)
		memcpy(v->to, v->from, v->elem);
	else
		copy_level(v, v->n - 1, v->to, v->from);
}

bool caf_copy_section(const struct caf_section *to, const struct caf_section *from)
{
	struct caf_levels v;
	if (to->n == 0)
		return true;
	if (caf_levels_of(&v, to, from)) {
		copy_levels(&v);
		return true;
	}
	struct caf_buffer b;
	if (!caf_buffer_get(&b, to->n * to->elem))
		return false;
	struct caf_section packed = caf_packed(b.p, to->elem, to->n);
	bool ok = caf_copy_section(&packed, from) && caf_copy_section(to, &packed);
	caf_buffer_free(&b);
	return ok;
}
