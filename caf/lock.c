/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks, and CRITICAL, which is a lock on the first image. Each is a mutex of ARMCI on the image
 * that has the variable; an image knows those that it holds itself. The variable's memory is a
 * mark: not 0 if the last holder failed. Statements on locks are made by one thread of an image at
 * a time.
 */
#include <limits.h>
#include <stdlib.h>

#include "object.h"

typedef int64_t mark_t;

struct caf_locks {
	armcix_mutex_hdl_t mutexes;
	int members; /* images that made them */
};

/* What the image holds, the last one last. */
static struct held {
	const struct caf_token *t;
	size_t index;
	int rank;
} *held;
static size_t n_held, room;

bool caf_locks_prepare(struct caf_token *t)
{
	t->locks = calloc(1, sizeof *t->locks);
	return t->locks != NULL;
}

bool caf_locks_create(struct caf_token *t, size_t count)
{
	const struct caf_members *m = caf_members(t->team);
	ARMCI_Group group = m->group;
	bool first = m->rank[0] == caf.me;
	struct caf_locks *l = t->locks;
	if (count > INT_MAX)
		return false;
	l->members = m->n;
	l->mutexes = ARMCIX_Create_mutexes_hdl(t->kind == CAF_CRITICAL && !first ? 0 : (int)count,
		&group);
	return l->mutexes != NULL;
}

static struct held *find_held(const struct caf_token *t, int rank, size_t index)
{
	for (size_t i = n_held; i-- > 0;)
		if (held[i].t == t && held[i].rank == rank && held[i].index == index)
			return &held[i];
	return NULL;
}

static void hold(const struct caf_token *t, int rank, size_t index)
{
	if (n_held == room) {
		size_t more = room ? 2 * room : 64;
		struct held *h = realloc(held, more * sizeof *h);
		if (!h)
			caf_fatal("no memory for %zu locks", more);
		held = h;
		room = more;
	}
	held[n_held++] = (struct held){t, index, rank};
}

static void release(struct held *h)
{
	struct held was = *h;
	*h = held[--n_held];
	ARMCIX_Unlock_hdl(was.t->locks->mutexes, (int)was.index, was.rank);
}

/* All members call it, unless some have ended: the mutexes can be freed only by those that made
 * them, and are left. */
void caf_locks_destroy(struct caf_token *t)
{
	struct caf_locks *l = t->locks;
	for (size_t i = n_held; i-- > 0;)
		if (held[i].t == t)
			release(&held[i]);
	if (l->mutexes && caf_members(t->team)->n == l->members)
		ARMCIX_Destroy_mutexes_hdl(l->mutexes);
	free(l);
	t->locks = NULL;
}

void caf_locks_abandon(int state)
{
	static const mark_t left = 1;
	ARMCI_AllFence();
	while (n_held) {
		struct held *h = &held[n_held - 1];
		if (state == CAF_FAILED_IMAGE)
			ARMCI_Put((void *)&left, caf_at(h->t, h->rank, h->index * sizeof left),
				sizeof left, h->rank);
		release(h); /* behind the put */
	}
}

/* Whether the last holder of a lock that the image has got now failed. No image can have left a
 * mark before it is known to have ended. */
static bool was_left(const struct caf_token *t, int rank, size_t index)
{
	static const mark_t none = 0;
	mark_t mark;
	if (likely(!caf_ended()))
		return false;
	char *at = caf_at(t, rank, index * sizeof mark);
	ARMCI_Get(at, &mark, sizeof mark, rank);
	if (mark == none)
		return false;
	ARMCI_Put((void *)&none, at, sizeof none, rank);
	return true;
}

/* The image of the lock; -1: there is none, which is reported. That of CRITICAL may have ended. */
static int find(const char *what, const struct caf_token *t, size_t index, int image,
	const struct caf_status *s)
{
	struct caf_object o;
	if (t && t->kind == CAF_CRITICAL)
		return t->team->rank[0];
	if (likely(index < SIZE_MAX / sizeof(mark_t) &&
		    caf_find_object(&o, t, index * sizeof(mark_t), image, sizeof(mark_t)) &&
		    t->locks))
		return o.rank;
	caf_no_object(t, index, image, sizeof(mark_t), what, s);
	return -1;
}

/* acquired: null unless the statement has ACQUIRED_LOCK=, with which it does not wait. */
CAF_API void _gfortran_caf_lock(struct caf_token *t, size_t index, int image, int *acquired,
	int *stat, char *errmsg, size_t length)
{
	const struct caf_status s = {stat, errmsg, length};
	const int rank = find("LOCK", t, index, image, &s);
	if (acquired)
		*acquired = 0;
	if (unlikely(rank < 0))
		return;
	if (unlikely(find_held(t, rank, index) != NULL)) {
		caf_error(CAF_LOCKED, stat, errmsg, length,
			"LOCK: this image has locked the variable already");
		return;
	}
	if (!acquired)
		ARMCIX_Lock_hdl(t->locks->mutexes, (int)index, rank);
	else if (ARMCIX_Trylock_hdl(t->locks->mutexes, (int)index, rank) != 0) {
		caf_success(stat);
		return;
	} else
		*acquired = 1;
	hold(t, rank, index);
	if (unlikely(was_left(t, rank, index)) && t->kind != CAF_CRITICAL)
		caf_error(CAF_UNLOCKED_FAILED_IMAGE, stat, errmsg, length,
			"LOCK: the image that had locked the variable has failed");
	else
		caf_success(stat);
}

/* UNLOCK of a lock that the image does not hold. GFortran's STAT_UNLOCKED is 0, so only the message
 * tells it from success. */
static void not_held(const struct caf_token *t, int rank, size_t index, const struct caf_status *s)
{
	if (ARMCIX_Trylock_hdl(t->locks->mutexes, (int)index, rank) != 0) {
		caf_error(CAF_LOCKED_OTHER_IMAGE, s->stat, s->errmsg, s->length,
			"UNLOCK: another image has locked the variable");
		return;
	}
	ARMCIX_Unlock_hdl(t->locks->mutexes, (int)index, rank);
	caf_error(s->stat ? CAF_UNLOCKED : CAF_NO_ELEMENT, s->stat, s->errmsg, s->length,
		"UNLOCK: the variable is not locked");
}

CAF_API void _gfortran_caf_unlock(struct caf_token *t, size_t index, int image, int *stat,
	char *errmsg, size_t length)
{
	const struct caf_status s = {stat, errmsg, length};
	int rank = t && t->kind == CAF_CRITICAL ? t->team->rank[0] :
		image                           ? caf_rank(image) :
						  caf.me;
	struct held *h = find_held(t, rank, index);
	if (likely(h != NULL)) {
		caf_fence_others(rank);
		release(h);
	}
	rank = find("UNLOCK", t, index, image, &s); /* also reports that the image has failed */
	if (unlikely(rank < 0))
		return;
	if (likely(h != NULL))
		caf_success(stat);
	else
		not_held(t, rank, index, &s);
}
