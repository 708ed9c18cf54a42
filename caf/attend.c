/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How an image that has ended takes part in the calls that others are in. It must not wait in a
 * call for a member that is late, which may wait for it in a call of another team; so it enters a
 * call when all that run have begun it. Several images that have ended enter a call together: the
 * first of them reserves the others in the order of their ranks, so that no two calls wait for each
 * other's, then invites them.
 */
#include <stdatomic.h>

#include "calls.h"

static char scrap[CAF_CALL_BYTES];

static struct caf_ledger *own_ledger(const struct caf_team *t) { return t->calls->at[t->me]; }

/* Fixes the calls that this image takes part in, now that all can see that it has ended. */
static void publish(struct caf_team *t)
{
	struct caf_ledger *l = own_ledger(t);
	l->last = l->final = l->begun;
	for (int i = 0; i < t->n; i++) {
		uint64_t begun = i == t->me ? 0 : caf_calls_begun(t, i);
		if (begun > l->final)
			l->final = begun;
	}
	atomic_store_explicit(&l->published, 1, memory_order_release);
}

/* Whether a member takes part in a call only because others wait for it. */
static bool guest(const struct caf_team *t, int member, uint64_t number)
{
	const struct caf_calls *c = t->calls;
	if (member == t->me)
		return own_ledger(t)->last < number;
	return caf_calls_absent(c, member, number, true) &&
		!caf_calls_absent(c, member, number, false);
}

/* Whether this image is the first guest of a call, other guests have nothing to do before it, and
 * all else have begun it. */
static bool can_invite(struct caf_team *t, uint64_t number)
{
	for (int i = 0; i < t->n; i++) {
		if (caf_calls_absent(t->calls, i, number, false))
			continue;
		bool other = guest(t, i, number);
		if (other && t->rank[i] < caf.me)
			return false;
		if (i != t->me && caf_calls_begun(t, i) < (other ? number - 1 : number))
			return false;
	}
	return true;
}

static bool reserve(int rank)
{
	static const int nobody = 0;
	int old = -1, mine = caf.me + 1;
	if (ARMCIX_Atomic(ARMCIX_CAS, sizeof old, &old, &caf.control[rank]->guest, &mine, &nobody,
		    rank) != 0)
		caf_fatal("cannot reach image %d", rank + 1);
	return old == nobody;
}

static void release_self(void)
{
	static const int nobody = 0;
	ARMCIX_Atomic(ARMCIX_SWAP, sizeof nobody, NULL, &caf.control[caf.me]->guest, &nobody, NULL,
		caf.me);
}

/* The ranks of guests behind this image's, ascending: each is the smallest above the one before. */
static int next_guest(const struct caf_team *t, uint64_t number, int after)
{
	int next = -1;
	for (int i = 0; i < t->n; i++)
		if (t->rank[i] > after && guest(t, i, number) &&
			(next < 0 || t->rank[i] < t->rank[next]))
			next = i;
	return next;
}

/* Returns false if this image is reserved for another call. */
static bool invite(struct caf_team *t, uint64_t number)
{
	if (!reserve(caf.me))
		return false;
	for (int i = next_guest(t, number, caf.me); i >= 0; i = next_guest(t, number, t->rank[i]))
		for (unsigned tries = 0; !reserve(t->rank[i]); tries++) caf_nap(tries);
	for (int i = next_guest(t, number, caf.me); i >= 0; i = next_guest(t, number, t->rank[i]))
		ARMCI_Put(&number, (void *)&t->calls->at[i]->invited, sizeof number, t->rank[i]);
	ARMCI_AllFence();
	own_ledger(t)->invited = number;
	return true;
}

/* What the image contributes is worthless: the others learn from caf_finish that it had ended. */
static void make_call(struct caf_team *t, const struct caf_record *r)
{
	memset(scrap, 0, sizeof scrap);
	int code = caf_begin(t, (enum caf_call)r->call, r->root, r->type, r->n);
	if (code == CAF_OK && r->call == CAF_CALL_BCAST)
		caf_call_bcast(scrap, r->n, t->rank[r->root], t->group);
	else if (code == CAF_OK && r->call == CAF_CALL_GOP)
		caf_call_gop(scrap, r->n, "+", r->type, t->group);
	else if (code != CAF_STOPPED_IMAGE && r->call == CAF_CALL_BARRIER)
		caf_call_barrier(t->calls->members.group);
}

/* A member that has made a call, or is in it, other than as a guest; or -1. */
static int host_of(struct caf_team *t, uint64_t number)
{
	for (int i = 0; i < t->n; i++)
		if (!caf_calls_absent(t->calls, i, number, true) && !guest(t, i, number) &&
			caf_calls_begun(t, i) >= number)
			return i;
	return -1;
}

/* Returns whether it has taken part. */
static bool take_part(struct caf_team *t, uint64_t number, int code)
{
	struct caf_record r;
	int host = host_of(t, number);
	if (host < 0)
		return false;
	caf_calls_read(t, host, &t->calls->at[host]->call[number % CAF_LEDGER_CALLS], &r, sizeof r);
	/* the call is not made */
	bool alone = code == CAF_FAILED_IMAGE && r.call != CAF_CALL_BARRIER;
	if (!alone &&
		atomic_load_explicit(&own_ledger(t)->invited, memory_order_acquire) != number &&
		(!can_invite(t, number) || !invite(t, number)))
		return false;
	t->calls->unsynced = 0; /* the others' barriers are among the calls */
	make_call(t, &r);
	if (!alone)
		release_self();
	return true;
}

/* Returns whether the image is still needed in the team; *moved: it has taken part in a call. */
static bool attend(struct caf_team *t, bool *moved)
{
	struct caf_ledger *l = own_ledger(t);
	if (l->begun >= l->final)
		return false;
	caf_calls_look(t);
	uint64_t number = l->begun + 1;
	int code = caf_calls_stat(t, number);
	if (code == CAF_STOPPED_IMAGE) { /* this call is not made, nor are later ones */
		l->begun = l->final;
		return false;
	}
	*moved |= take_part(t, number, code);
	return true;
}

void caf_calls_attend(void)
{
	for (struct caf_team *t = caf.teams; t; t = t->next) publish(t);
	bool needed = true;
	for (unsigned tries = 0; needed; tries++) {
		bool moved = false;
		needed = false;
		for (struct caf_team *t = caf.teams; t; t = t->next) needed |= attend(t, &moved);
		if (moved)
			tries = 0;
		else if (needed)
			caf_nap(tries);
	}
}
