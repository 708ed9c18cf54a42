// SPDX-License-Identifier: BSD-3-Clause
// Makes runs of bytes of a datatype, from how it was made. Runs are in the order of the type map,
// so that packing them is what MPI means. It keeps nothing: see datatype.c.
#include "datatype.h"

#include "../internal/kernel/update.h"

#include <stdlib.h>

int64_t type_size(handle type)
{
	count_t size = 0;
	return real.Type_size_x(type, &size) == 0 ? size : 0;
}

void type_extent(handle type, int64_t *lb, int64_t *extent)
{
	count_t first = 0, all = 0;
	real.Type_get_extent_x(type, &first, &all);
	*lb = first;
	*extent = all;
}

void map_add(struct map *m, int64_t offset, int64_t bytes)
{
	if (bytes <= 0 || m->failed)
		return;
	if (m->n && m->runs[m->n - 1].offset + m->runs[m->n - 1].bytes == offset) {
		m->runs[m->n - 1].bytes += bytes;
		return;
	}
	if (m->n == m->room) {
		int64_t room = m->room ? 2 * m->room : 4;
		struct k_span *runs = realloc(m->runs, (size_t)room * sizeof *runs);
		if (!runs) {
			m->failed = true;
			return;
		}
		m->runs = runs;
		m->room = room;
	}
	m->runs[m->n++] = (struct k_span){ offset, bytes };
}

void map_place(struct map *m, const struct part *p, int64_t count, int64_t offset)
{
	const struct map *from = &p->map;
	if (count > 0 && from->n == 1 && from->runs[0].bytes == p->extent) {
		map_add(m, offset + from->runs[0].offset, p->extent * count);
		return;
	}
	for (int64_t i = 0; i < count && from->n && !m->failed; i++)
		for (int64_t r = 0; r < from->n; r++)
			map_add(m, offset + i * p->extent + from->runs[r].offset,
				from->runs[r].bytes);
}

static void note_element(struct map *m, int element)
{
	if (m->element == ELEMENT_NONE)
		m->element = element;
	else if (m->element != element && element != ELEMENT_NONE)
		m->element = ELEMENT_MIXED;
}

// A pair is a value and an int, with C's padding.
static void add_pair(struct map *m, int element, int64_t size)
{
	int64_t memory = (int64_t)k_update_bytes(element), value = size - (int64_t)sizeof(int);
	m->padded = true;
	note_element(m, m->whole ? element : ELEMENT_MIXED);
	if (m->whole) {
		map_add(m, 0, memory);
		return;
	}
	map_add(m, 0, value);
	map_add(m, value < (int64_t)sizeof(int) ? (int64_t)sizeof(int) : value, sizeof(int));
}

static void add_predefined(struct map *m, enum type_class class, int64_t size)
{
	int element = predefined_element(class, size);
	if (size == 0)
		return;
	if (class >= TYPE_PAIR_F32 && class <= TYPE_PAIR_F80 &&
		(int64_t)k_update_bytes(element) != size) {
		add_pair(m, element, size);
		return;
	}
	note_element(m, element);
	map_add(m, 0, size);
}

static struct part part_of(struct map *m, handle type)
{
	struct part p = { .map = { .element = ELEMENT_NONE, .whole = m->whole } };
	map_flatten(&p.map, type);
	type_extent(type, &p.lb, &p.extent);
	m->padded = m->padded || p.map.padded;
	m->failed = m->failed || p.map.failed;
	return p;
}

// Blocks of elements. lengths NULL: each has `length`; `unit` is what a place is multiplied with.
static void add_blocks(struct map *m, const struct part *p, int64_t count, const int64_t *lengths,
	int64_t length, const int64_t *places, int64_t unit)
{
	for (int64_t i = 0; i < count; i++)
		map_place(m, p, lengths ? lengths[i] : length, places[i] * unit);
}

static void add_vector(struct map *m, const struct part *p, int64_t count, int64_t length,
	int64_t stride)
{
	for (int64_t i = 0; i < count; i++)
		map_place(m, p, length, i * stride);
}

static void add_struct(struct map *m, const struct contents *c)
{
	for (int64_t i = 0; i < c->n[0]; i++) {
		struct part p = part_of(m, c->types[i]);
		if (c->n[1 + i] > 0)
			note_element(m, p.map.element);
		map_place(m, &p, c->n[1 + i], c->at[i]);
		free(p.map.runs);
	}
}

// Types that are made of one other type.
static void add_derived(struct map *m, const struct contents *c, const struct part *p)
{
	const int64_t *n = c->n;
	note_element(m, p->map.element);
	switch (c->combiner) {
	case COMBINER_DUP: case COMBINER_RESIZED: map_place(m, p, 1, 0); break;
	case COMBINER_CONTIGUOUS:                 map_place(m, p, n[0], 0); break;
	case COMBINER_VECTOR: add_vector(m, p, n[0], n[1], n[2] * p->extent); break;
	case COMBINER_HVECTOR:                    add_vector(m, p, n[0], n[1], c->at[0]); break;
	case COMBINER_INDEXED: add_blocks(m, p, n[0], n + 1, 0, n + 1 + n[0], p->extent); break;
	case COMBINER_HINDEXED:                   add_blocks(m, p, n[0], n + 1, 0, c->at, 1); break;
	case COMBINER_INDEXED_BLOCK: add_blocks(m, p, n[0], NULL, n[1], n + 2, p->extent); break;
	case COMBINER_HINDEXED_BLOCK: add_blocks(m, p, n[0], NULL, n[1], c->at, 1); break;
	case COMBINER_SUBARRAY:                   map_subarray(m, c, p); break;
	case COMBINER_DARRAY:                     map_darray(m, c, p); break;
	default:                                  m->failed = true;
	}
}

// Types of Fortran's selected kinds have sizes, and no contents that matter.
static enum type_class class_of_f90(int combiner)
{
	switch (combiner) {
	case COMBINER_F90_REAL:    return TYPE_FLOAT;
	case COMBINER_F90_COMPLEX: return TYPE_COMPLEX;
	case COMBINER_F90_INTEGER: return TYPE_INT;
	default:                   return TYPE_NONE;
	}
}

void map_flatten(struct map *m, handle type)
{
	enum type_class class = predefined_class(type);
	int combiner = class ? COMBINER_NAMED : contents_combiner(type);
	if (!class)
		class = class_of_f90(combiner);
	if (class || combiner == COMBINER_NAMED) {
		// a name that is not in the table is bytes; MPI_UB and MPI_LB have none
		add_predefined(m, class ? class : TYPE_BYTES, type_size(type));
		return;
	}
	struct contents c;
	if (!contents_read(type, &c)) {
		m->failed = true;
		return;
	}
	if (c.combiner == COMBINER_STRUCT) {
		add_struct(m, &c);
	} else if (c.ntypes == 1) {
		struct part p = part_of(m, c.types[0]);
		add_derived(m, &c, &p);
		free(p.map.runs);
	} else {
		m->failed = true;
	}
	contents_free(&c);
}
