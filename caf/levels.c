/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sections of equal size as one loop nest. Dimensions that follow each other without a gap are
 * merged, on each side alone and then together; a long dimension is split where the other side has
 * several, so that ranks need not be equal.
 */
#include "caf.h"

/* One side: dimensions of more than one element, neighbours merged where they are one run. */
struct dims {
	int n;
	ptrdiff_t count[CAF_MAX_RANK], stride[CAF_MAX_RANK];
};

static void dims_of(struct dims *d, const struct caf_section *s)
{
	d->n = 0;
	for (int i = 0; i < s->rank; i++) {
		if (s->count[i] == 1)
			continue;
		int last = d->n - 1;
		if (last >= 0 && s->stride[i] == d->stride[last] * d->count[last]) {
			d->count[last] *= s->count[i];
			continue;
		}
		d->count[d->n] = s->count[i];
		d->stride[d->n++] = s->stride[i];
	}
}

static void add_level(struct caf_levels *v, ptrdiff_t count, ptrdiff_t to, ptrdiff_t from)
{
	int last = v->n - 1;
	if (last >= 0 && to == v->to_stride[last] * v->count[last] &&
		from == v->from_stride[last] * v->count[last]) {
		v->count[last] *= count;
		return;
	}
	v->count[v->n] = count;
	v->to_stride[v->n] = to;
	v->from_stride[v->n++] = from;
}

/* Takes `part` elements from the front of dimension i; true if that was all of it. */
static bool take(struct dims *d, int i, ptrdiff_t part)
{
	d->count[i] /= part;
	d->stride[i] *= part;
	return d->count[i] == 1;
}

bool caf_levels_of(struct caf_levels *v, const struct caf_section *to,
	const struct caf_section *from)
{
	struct dims a, b;
	dims_of(&a, to);
	dims_of(&b, from);
	v->to = to->base;
	v->from = from->base;
	v->elem = to->elem;
	v->n = 0;
	int i = 0, j = 0;
	while (i < a.n && j < b.n) {
		ptrdiff_t part = a.count[i] < b.count[j] ? a.count[i] : b.count[j];
		if (a.count[i] % part || b.count[j] % part)
			return false;
		add_level(v, part, a.stride[i], b.stride[j]);
		i += take(&a, i, part);
		j += take(&b, j, part);
	}
	return i == a.n && j == b.n;
}
