/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * object.h: what statements on atomic, event and lock variables have in common: the variable is an
 * element of a coarray on an image of the current team. Image 0 is the executing image. Found is an
 * element that exists, on an image that has not failed.
 */
#ifndef CAF_OBJECT_H_
#define CAF_OBJECT_H_

#include "caf.h"

/* Where the statement has STAT= and ERRMSG=; each may be null. */
struct caf_status {
	int *stat;
	char *errmsg;
	size_t length;
};

struct caf_object {
	char *at;
	int rank;
};

/* Fences all ranks but this one, ahead of a call that comes behind the image's stores there: it
 * need not wait for them. */
void caf_fence_others(int rank);

/* Reports why there is no element, in the name of the statement. */
void caf_no_object(const struct caf_token *t, size_t index, int image, size_t elem,
	const char *what, const struct caf_status *s);
/* As caf_find_object, also if images have ended. */
bool caf_find_among_ended(struct caf_object *o, const struct caf_token *t, size_t offset, int image,
	size_t elem);

/* The element of `elem` bytes at a byte offset. False: there is none, or its image has failed. */
static inline bool caf_find_object(struct caf_object *o, const struct caf_token *t, size_t offset,
	int image, size_t elem)
{
	if (unlikely(!t || !t->at || caf_ended()))
		return caf_find_among_ended(o, t, offset, image, elem);
	o->rank = image ? caf_rank(image) : caf.me;
	if (unlikely(o->rank < 0 || offset >= t->bytes || t->bytes - offset < elem ||
		    !t->at[o->rank]))
		return false;
	o->at = caf_at(t, o->rank, offset);
	return true;
}

#endif
