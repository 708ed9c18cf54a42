// SPDX-License-Identifier: BSD-3-Clause
// Strided helpers for local memory: pack, unpack, and the iterator over segments. The kernel walks.
#include "front.h"

// With invalid arguments, such as a negative number of levels, these local calls do nothing.
static bool sane(int levels, const int *strides, const int *counts)
{
	return levels >= 0 && levels <= ARMCI_MAX_STRIDE_LEVEL && counts &&
		(levels == 0 || strides);
}

PUBLIC void armci_write_strided(void *ptr, int levels, int strides[], int counts[], char *buf)
{
	if (sane(levels, strides, counts))
		k_pack(ptr, strides, counts, levels, buf);
}

PUBLIC void armci_read_strided(void *ptr, int levels, int strides[], int counts[], char *buf)
{
	if (sane(levels, strides, counts))
		k_unpack(ptr, strides, counts, levels, buf);
}

PUBLIC void armci_stride_info_init(stride_info_t *s, void *base, int levels, const int *strides,
	const int *counts)
{
	memset(s, 0, sizeof *s);
	if (!sane(levels, strides, counts))
		return; // an empty iterator
	s->base_ptr = base;
	s->stride_levels = levels;
	s->size = 1;
	s->seg_count[0] = counts[0];
	for (int i = 0; i < levels; i++) {
		s->stride_arr[i] = strides[i];
		s->seg_count[i + 1] = counts[i + 1];
		s->size *= counts[i + 1] > 0 ? counts[i + 1] : 0;
	}
}

PUBLIC void armci_stride_info_destroy(stride_info_t *s) { s->size = s->pos = 0; }

PUBLIC void armci_stride_info_next(stride_info_t *s)
{
	s->pos++;
	for (int i = 0; i < s->stride_levels; i++) {
		if (++s->itr[i] < s->seg_count[i + 1])
			return;
		s->itr[i] = 0;
	}
}

static int64_t offset(const stride_info_t *s)
{
	int64_t off = 0;
	for (int i = 0; i < s->stride_levels; i++) off += (int64_t)s->itr[i] * s->stride_arr[i];
	return off;
}

PUBLIC void *armci_stride_info_seg_ptr(stride_info_t *s) { return s->base_ptr + offset(s); }
PUBLIC int armci_stride_info_seg_off(stride_info_t *s) { return (int)offset(s); }
PUBLIC int armci_stride_info_seg_size(stride_info_t *s) { return s->seg_count[0]; }
PUBLIC int armci_stride_info_size(stride_info_t *s) { return s->size; }
PUBLIC int armci_stride_info_count(stride_info_t *s) { return s->size; }
PUBLIC int armci_stride_info_pos(stride_info_t *s) { return s->pos; }
PUBLIC int armci_stride_info_has_more(stride_info_t *s) { return s->pos < s->size; }
