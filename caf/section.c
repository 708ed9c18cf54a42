/* SPDX-License-Identifier: BSD-3-Clause */
/* What a descriptor describes, as a section. */
#include "caf.h"

void caf_section_of(struct caf_section *s, const struct caf_desc *d)
{
	ptrdiff_t span = d->span ? d->span : (ptrdiff_t)d->dtype.elem_len;
	s->base = d->base;
	s->elem = d->dtype.elem_len;
	s->rank = d->dtype.rank;
	s->n = 1;
	for (int i = 0; i < s->rank; i++) {
		ptrdiff_t count = d->dim[i].upper - d->dim[i].lower + 1;
		s->count[i] = count > 0 ? count : 0;
		s->stride[i] = d->dim[i].stride * span;
		s->n *= (size_t)s->count[i];
	}
}
