// SPDX-License-Identifier: BSD-3-Clause
// stride_iterator.c - the iterator over the segments of a strided shape: pointers, offsets and
// counts against a plain model. Purely local: no transfer.
#include "check.h"
#include "shape.h"

static char base[1];

static void walk(const struct shape *s)
{
	stride_info_t it;
	int idx[SHAPE_LEVELS + 1] = {0}, n = 0, total = (int)(s->volume / s->count[0]);
	armci_stride_info_init(&it, base, s->levels, s->src, s->count);
	CHECK_INT(armci_stride_info_size(&it), total);
	do {
		long off = shape_offset(s, idx, s->src);
		CHECK(armci_stride_info_has_more(&it));
		CHECK_INT(armci_stride_info_pos(&it), n);
		CHECK_INT((uintptr_t)armci_stride_info_seg_ptr(&it) - (uintptr_t)base, off);
		CHECK_INT(armci_stride_info_seg_off(&it), off);
		CHECK_INT(armci_stride_info_seg_size(&it), s->count[0]);
		armci_stride_info_next(&it);
		n++;
	} while (shape_next(s, idx));
	CHECK_INT(n, total);
	CHECK(!armci_stride_info_has_more(&it));
	armci_stride_info_destroy(&it);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	uint64_t rng = 3 + (uint64_t)me;
	for (int round = 0; round < 50; round++)
		for (int levels = 0; levels <= SHAPE_LEVELS; levels++) {
			struct shape s = shape_random(&rng, levels, 1);
			walk(&s);
		}
	return check_end("stride_iterator");
}
