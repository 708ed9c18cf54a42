/* SPDX-License-Identifier: BSD-3-Clause */
/* Thin: scalars and contiguous sections of one format only. */
#include "caf.h"

CAF_API void _gfortran_caf_get(struct caf_token *t, size_t offset, int image, struct caf_desc *src, struct caf_vector *sv,
	struct caf_desc *dst, int src_kind, int dst_kind, bool may_require_tmp, int *stat)
{
	(void)sv; (void)src_kind; (void)dst_kind; (void)may_require_tmp;
	struct caf_section s;
	caf_section_of(&s, src);
	int rank = caf_rank(image);
	ARMCI_Get(caf_at(t, rank, offset), dst->base, (int)(s.n * s.elem), rank);
	caf_success(stat);
}

CAF_API void _gfortran_caf_send(struct caf_token *t, size_t offset, int image, struct caf_desc *dst, struct caf_vector *dv,
	struct caf_desc *src, int dst_kind, int src_kind, bool may_require_tmp, int *stat)
{
	(void)dv; (void)src_kind; (void)dst_kind; (void)may_require_tmp;
	struct caf_section s;
	caf_section_of(&s, src);
	int rank = caf_rank(image);
	ARMCI_Put(src->base, caf_at(t, rank, offset), (int)(s.n * s.elem), rank);
	(void)dst;
	caf_success(stat);
}
