// SPDX-License-Identifier: BSD-3-Clause
// Makes the flattened form of a datatype of its runs: sizes, bounds, whether it is dense and of one
// element type, and the form without padding that types of pairs have beside it. It keeps nothing:
// see datatype.c.
#include "datatype.h"

#include "../internal/kernel/update.h"

#include <stdlib.h>
#include <string.h>

void type_clear(struct rma_type *t)
{
	uintptr_t shape = atomic_load(&t->shape);
	if (shape && mpirmago_release_shape)
		mpirmago_release_shape(shape);
	if (t->exact) {
		type_clear((struct rma_type *)t->exact);
		free((void *)t->exact);
	}
	free(t->runs);
	memset(t, 0, sizeof *t);
}

static void take_runs(struct rma_type *t, struct map *m)
{
	t->runs = m->runs;
	t->nruns = m->n;
	t->element = m->element >= 0 ? m->element : -1;
	t->element_bytes = m->element >= 0 ? (int)k_update_bytes(m->element) : 0;
	for (int64_t i = 0; i < m->n; i++) {
		int64_t first = m->runs[i].offset, end = first + m->runs[i].bytes;
		t->true_lb = i && t->true_lb < first ? t->true_lb : first;
		t->true_ub = i && t->true_ub > end ? t->true_ub : end;
		t->bytes += m->runs[i].bytes;
	}
	t->dense = !m->n || (m->n == 1 && m->runs[0].offset == 0 && t->bytes == t->extent);
}

// The padding of one pair is data of another, in types that were resized to less than C's struct.
static bool overlaps(const struct map *m, int64_t extent)
{
	if (m->n == 1 && extent > 0 && m->runs[0].bytes > extent)
		return true;
	for (int64_t i = 1; i < m->n; i++)
		if (m->runs[i].offset < m->runs[i - 1].offset + m->runs[i - 1].bytes &&
			m->runs[i].offset >= m->runs[i - 1].offset)
			return true;
	return false;
}

// Flattens once, with the padding of pairs or without.
static bool flatten(handle type, struct map *m, bool whole)
{
	*m = (struct map){ .element = ELEMENT_NONE, .whole = whole };
	map_flatten(m, type);
	if (m->failed)
		free(m->runs);
	return !m->failed;
}

static bool make_exact(struct rma_type *t, handle type, struct map *whole)
{
	struct map m;
	if (!flatten(type, &m, false))
		return false;
	if (overlaps(whole, t->extent)) {
		free(whole->runs);
		*whole = m;
		return true;
	}
	struct rma_type *exact = calloc(1, sizeof *exact);
	if (exact) {
		*exact = *t;
		take_runs(exact, &m);
		t->exact = exact;
	}
	return exact != NULL;
}

// False: no memory, or the type is not understood; a type whose runs are not as many bytes as MPI
// says is not.
bool type_make(struct rma_type *t, handle type)
{
	struct map m;
	if (!flatten(type, &m, true))
		return false;
	t->size = type_size(type);
	type_extent(type, &t->lb, &t->extent);
	bool made = !m.padded || make_exact(t, type, &m);
	take_runs(t, &m);
	return made && (t->exact ? t->exact->bytes : t->bytes) == t->size;
}
