/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events. An element is an armcix_event_t: posts raise its count, waits of its own image lower it.
 * Stores of an image anywhere before EVENT POST are visible to the image that waits for that event.
 */
#include "object.h"

/* milliseconds after which a wait checks whether any other image is left that can post */
enum { LOOK = 1000 };

static bool find(struct caf_object *o, const char *what, const struct caf_token *t, size_t index,
	int image, const struct caf_status *s)
{
	const size_t elem = sizeof(armcix_event_t);
	if (likely(index < SIZE_MAX / elem && caf_find_object(o, t, index * elem, image, elem)))
		return true;
	caf_no_object(t, index, image, elem, what, s);
	return false;
}

CAF_API void _gfortran_caf_event_post(struct caf_token *t, size_t index, int image, int *stat,
	char *errmsg, size_t length)
{
	const struct caf_status s = {stat, errmsg, length};
	struct caf_object o;
	if (!find(&o, "EVENT POST", t, index, image, &s))
		return;
	caf_fence_others(o.rank);
	if (unlikely(ARMCIX_Event_add((armcix_event_t *)o.at, 1, o.rank) != 0))
		caf_error(CAF_NO_ELEMENT, stat, errmsg, length, "EVENT POST at image %d failed",
			image);
	else
		caf_success(stat);
}

/* The stat if every other image has ended, so that no image can post any more; else 0. */
static int all_others_ended(void)
{
	int stat = CAF_FAILED_IMAGE;
	if (caf_ended() < caf.n - 1)
		return CAF_OK;
	for (int rank = 0; rank < caf.n; rank++)
		if (rank != caf.me && caf_state(rank) == CAF_STOPPED_IMAGE)
			stat = CAF_STOPPED_IMAGE;
	return caf.n > 1 ? stat : CAF_STOPPED_IMAGE;
}

CAF_API void _gfortran_caf_event_wait(struct caf_token *t, size_t index, int until, int *stat,
	char *errmsg, size_t length)
{
	const struct caf_status s = {stat, errmsg, length};
	struct caf_object o;
	if (!find(&o, "EVENT WAIT", t, index, 0, &s))
		return;
	armcix_event_t *event = (armcix_event_t *)o.at;
	if (until < 1)
		until = 1;
	unsigned seen;
	while ((int)(seen = caf_event_count(event)) < until) {
		int ended = all_others_ended();
		if (unlikely(ended) && caf_event_count(event) == seen) {
			caf_error(ended, stat, errmsg, length,
				"EVENT WAIT: the event has %d of %d posts, and no other image runs",
				(int)seen, until);
			return;
		}
		if (unlikely(ARMCIX_Event_wait(event, seen, LOOK) < 0)) {
			caf_error(CAF_NO_ELEMENT, stat, errmsg, length, "EVENT WAIT failed");
			return;
		}
	}
	atomic_fetch_sub_explicit((_Atomic unsigned *)&event->count, (unsigned)until,
		memory_order_acq_rel);
	caf_success(stat);
}

CAF_API void _gfortran_caf_event_query(struct caf_token *t, size_t index, int image, int *count,
	int *stat)
{
	const struct caf_status s = {.stat = stat};
	struct caf_object o;
	*count = -1; /* as the standard has it for errors */
	if (!find(&o, "EVENT_QUERY", t, index, image, &s))
		return;
	if (likely(o.rank == caf.me))
		*count = (int)caf_event_count((armcix_event_t *)o.at);
	else if (ARMCI_Get(&((armcix_event_t *)o.at)->count, count, sizeof *count, o.rank) != 0) {
		caf_error(CAF_NO_ELEMENT, stat, NULL, 0, "EVENT_QUERY at image %d failed", image);
		return;
	}
	caf_success(stat);
}
