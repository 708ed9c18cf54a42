// SPDX-License-Identifier: BSD-3-Clause
// The runs of array datatypes: MPI_Type_create_subarray and MPI_Type_create_darray. Both choose
// intervals of every dimension of an array; what is chosen is walked with the fastest dimension
// innermost.
#include "datatype.h"

#include <stdlib.h>

// Intervals of one dimension: the first begins at `start`, the others `step` apart; each is
// `length` long, none passes `size`.
struct axis {
	int64_t start, length, step, size;
	int64_t stride; // elements of the array from one index to the next
};

// Axes are in order from slowest to fastest.
static void walk(struct map *m, const struct part *p, const struct axis *axis, int64_t left,
	int64_t at)
{
	for (int64_t first = axis->start; first < axis->size && !m->failed; first += axis->step) {
		int64_t end = first + axis->length < axis->size ? first + axis->length : axis->size;
		if (left == 1) {
			map_place(m, p, end - first, (at + first * axis->stride) * p->extent);
			continue;
		}
		for (int64_t i = first; i < end; i++)
			walk(m, p, axis + 1, left - 1, at + i * axis->stride);
	}
}

// Orders the axes, gives them strides, and walks. The fastest is the last one in C, the first one
// in Fortran.
static void walk_array(struct map *m, const struct part *p, struct axis *axis, int64_t dimensions,
	bool fortran, const int64_t *sizes)
{
	for (int64_t i = 0; fortran && i < dimensions / 2; i++) {
		struct axis swapped = axis[i];
		axis[i] = axis[dimensions - 1 - i];
		axis[dimensions - 1 - i] = swapped;
	}
	int64_t stride = 1;
	for (int64_t i = dimensions - 1; i >= 0; i--) {
		axis[i].stride = stride;
		stride *= sizes[fortran ? dimensions - 1 - i : i];
	}
	walk(m, p, axis, dimensions, 0);
}

void map_subarray(struct map *m, const struct contents *c, const struct part *p)
{
	int64_t d = c->n[0];
	const int64_t *sizes = c->n + 1, *subsizes = sizes + d, *starts = subsizes + d;
	struct axis *axis = d > 0 ? calloc((size_t)d, sizeof *axis) : NULL;
	if (!axis) {
		m->failed = true;
		return;
	}
	for (int64_t i = 0; i < d; i++)
		axis[i] = (struct axis){.start = starts[i],
			.length = subsizes[i],
			.step = sizes[i] + 1,
			.size = sizes[i]};
	walk_array(m, p, axis, d, starts[d] != abi.order_c, sizes);
	free(axis);
}

// A dimension that is dealt to processes in blocks.
static struct axis dealt(int64_t size, int64_t how, int64_t block, int64_t processes,
	int64_t coordinate)
{
	if (how == abi.distribute_none)
		return (struct axis){ .length = size, .step = size + 1, .size = size };
	if (block == abi.distribute_default)
		block = how == abi.distribute_block ? (size + processes - 1) / processes : 1;
	return (struct axis){.start = coordinate * block,
		.length = block,
		.step = processes * block,
		.size = size};
}

void map_darray(struct map *m, const struct contents *c, const struct part *p)
{
	int64_t rank = c->n[1], d = c->n[2];
	const int64_t *sizes = c->n + 3, *how = sizes + d, *blocks = how + d,
		      *processes = blocks + d;
	struct axis *axis = d > 0 ? calloc((size_t)d, sizeof *axis) : NULL;
	if (!axis) {
		m->failed = true;
		return;
	}
	for (int64_t i = d - 1; i >= 0; i--) { // the grid of processes is in C order always
		axis[i] = dealt(sizes[i], how[i], blocks[i], processes[i], rank % processes[i]);
		rank /= processes[i];
	}
	walk_array(m, p, axis, d, processes[d] != abi.order_c, sizes);
	free(axis);
}
