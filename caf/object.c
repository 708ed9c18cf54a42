/* SPDX-License-Identifier: BSD-3-Clause */
/* What statements on atomic, event and lock variables have in common: the fence, and the unusual
 * cases. See object.h. */
#include "object.h"

enum { MANY = 1024 }; /* ranks that are no longer fenced one by one */

/* On the node stores are done at once, and one fence of all costs least. */
void caf_fence_others(int rank)
{
	if (caf.n > MANY || caf.near[rank]) {
		ARMCI_AllFence();
		return;
	}
	for (int i = 0; i < caf.n; i++)
		if (i != rank)
			ARMCI_Fence(i);
}

bool caf_find_among_ended(struct caf_object *o, const struct caf_token *t, size_t offset, int image,
	size_t elem)
{
	if (!t || !t->at)
		return false;
	o->rank = image ? caf_rank(image) : caf.me;
	if (o->rank < 0 || offset >= t->bytes || t->bytes - offset < elem || !t->at[o->rank])
		return false;
	o->at = caf_at(t, o->rank, offset);
	return o->rank == caf.me || caf_state(o->rank) != CAF_FAILED_IMAGE;
}

void caf_no_object(const struct caf_token *t, size_t index, int image, size_t elem,
	const char *what, const struct caf_status *s)
{
	int rank = image ? caf_rank(image) : caf.me;
	if (!t || !t->at)
		caf_error(CAF_NO_ELEMENT, s->stat, s->errmsg, s->length,
			"%s: the variable is not an allocated coarray", what);
	else if (rank < 0)
		caf_error(CAF_NO_ELEMENT, s->stat, s->errmsg, s->length,
			"%s: there is no image %d: the team has %d", what, image, caf.current->n);
	else if (rank != caf.me && caf_state(rank) == CAF_FAILED_IMAGE)
		caf_error(CAF_FAILED_IMAGE, s->stat, s->errmsg, s->length,
			"%s: image %d has failed", what, image);
	else if (!t->at[rank])
		caf_error(CAF_NO_ELEMENT, s->stat, s->errmsg, s->length,
			"%s: image %d has no part of the coarray", what, image);
	else
		caf_error(CAF_NO_ELEMENT, s->stat, s->errmsg, s->length,
			"%s: element %zu is outside the coarray, which has %zu", what, index + 1,
			t->bytes / elem);
}
