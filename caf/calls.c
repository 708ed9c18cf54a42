/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Announced collective calls, and what becomes of them when images have stopped or failed. Each
 * member of a team counts its calls and records the last ones where all members can read them. An
 * image that ends makes that known to all, then reads how far the others have come: as both sides
 * write before they read, each call of a member was either begun when the image can see it, or
 * finds that the image has ended. The largest count is the image's final call, which it publishes:
 * it takes part up to that one (attend.c).
 */
#include <stdatomic.h>
#include <stdint.h>

#include "calls.h"

static struct caf_ledger *own_ledger(const struct caf_team *t) { return t->calls->at[t->me]; }

static bool is_world(ARMCI_Group group) { return group == 0; }

void caf_call_barrier(ARMCI_Group group)
{
	if (likely(is_world(group)))
		armci_msg_barrier();
	else
		armci_msg_group_barrier(&group);
}

void caf_call_bcast(void *data, int bytes, int root, ARMCI_Group group)
{
	if (likely(is_world(group)))
		armci_msg_bcast(data, bytes, root);
	else
		armci_msg_group_bcast_scope(SCOPE_ALL, data, bytes, root, &group);
}

void caf_call_gop(void *data, int n, const char *op, int type, ARMCI_Group group)
{
	char *o = (char *)(uintptr_t)op; /* not written to */
	if (!is_world(group))
		armci_msg_group_gop_scope(SCOPE_ALL, data, n, o, type, &group);
	else if (type == ARMCI_INT)
		armci_msg_igop(data, n, o);
	else if (type == ARMCI_LONG)
		armci_msg_lgop(data, n, o);
	else if (type == ARMCI_FLOAT)
		armci_msg_fgop(data, n, o);
	else
		armci_msg_dgop(data, n, o);
}

bool caf_calls_create(struct caf_team *t)
{
	struct caf_calls *c = calloc(1, sizeof *c);
	void **at = calloc((size_t)t->n, sizeof *at);
	if (!c || !at || ARMCI_Malloc_group(at, sizeof(struct caf_ledger), &t->group) != 0)
		return false;
	memset(at[t->me], 0, sizeof(struct caf_ledger));
	c->at = (struct caf_ledger **)(void *)at;
	c->members = c->all = (struct caf_members){t->n, t->rank, t->group};
	t->calls = c;
	armci_msg_group_barrier(&t->group);
	return true;
}

void caf_calls_free(struct caf_team *t)
{
	struct caf_calls *c = t->calls;
	ARMCI_Free_group(c->at[t->me], &t->group);
	free(c->at);
	free(c->some.rank);
	free(c->gone);
	free(c);
}

static void record(struct caf_team *t, enum caf_call call, int root, int type, int n)
{
	struct caf_ledger *l = own_ledger(t);
	uint64_t number = l->begun + 1;
	l->call[number % CAF_LEDGER_CALLS] = (struct caf_record){(int)call, root, type, n};
	atomic_store_explicit(&l->begun, number, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
}

void caf_calls_read(const struct caf_team *t, int member, const void *from, void *to, int bytes)
{
	if (ARMCI_Get((void *)from, to, bytes, t->rank[member]) != 0)
		caf_fatal("cannot read the calls of image %d", member + 1);
}

uint64_t caf_calls_begun(const struct caf_team *t, int member)
{
	uint64_t begun;
	caf_calls_read(t, member, (const void *)&t->calls->at[member]->begun, &begun, sizeof begun);
	return begun;
}

/* Waits until a member that has ended says which calls it takes part in. It does so at once. */
static void read_final(const struct caf_team *t, struct caf_gone *g)
{
	struct caf_ledger *l = t->calls->at[g->member];
	int published = 0;
	for (unsigned tries = 0; !published; tries++) {
		caf_calls_read(t, g->member, (const void *)&l->published, &published,
			sizeof published);
		if (!published && tries > 100)
			caf_nap(tries);
	}
	uint64_t two[2];
	atomic_thread_fence(memory_order_seq_cst); /* not read before `published` */
	caf_calls_read(t, g->member, &l->last, two, sizeof two);
	g->last = two[0];
	g->final = two[1];
}

/* Finds members that have ended, if there can be new ones. */
void caf_calls_look(struct caf_team *t)
{
	struct caf_calls *c = t->calls;
	int ended = atomic_load_explicit(caf.ended, memory_order_acquire);
	if (ended == c->seen)
		return;
	if (!c->gone && !(c->gone = calloc((size_t)t->n, sizeof *c->gone)))
		caf_fatal("no memory for the states of images");
	for (int i = 0; i < t->n; i++) {
		int state = i == t->me ? CAF_RUNNING : caf_state(t->rank[i]);
		bool known = false;
		for (int j = 0; j < c->gones; j++) known |= c->gone[j].member == i;
		if (state == CAF_RUNNING || known)
			continue;
		c->gone[c->gones] = (struct caf_gone){.member = i, .state = state};
		read_final(t, &c->gone[c->gones++]);
	}
	c->seen = ended;
}

/* The stat that members give which take no part in a call: `really`, or at all. */
static int stat_of(struct caf_team *t, uint64_t number, bool really)
{
	int code = CAF_OK;
	for (int i = 0; i < t->calls->gones; i++) {
		const struct caf_gone *g = &t->calls->gone[i];
		if ((really ? g->last : g->final) < number && code != CAF_STOPPED_IMAGE)
			code = g->state;
	}
	return code;
}

bool caf_calls_absent(const struct caf_calls *c, int member, uint64_t number, bool really)
{
	for (int i = 0; i < c->gones; i++)
		if (c->gone[i].member == member)
			return (really ? c->gone[i].last : c->gone[i].final) < number;
	return false;
}

/* Makes caf_members those that take part. The group is made where all of them come by. */
static void choose_members(struct caf_team *t, uint64_t number, bool really)
{
	struct caf_calls *c = t->calls;
	int *index = malloc((size_t)t->n * sizeof *index), n = 0;
	if (!index)
		caf_fatal("no memory for a list of images");
	for (int i = 0; i < t->n; i++)
		if (!caf_calls_absent(c, i, number, really))
			index[n++] = i;
	if (n == t->n) {
		c->members = c->all;
	} else if (n != c->some.n) { /* images only ever leave: as many are the same */
		int *rank = malloc((size_t)n * sizeof *rank);
		if (!rank)
			caf_fatal("no memory for a list of images");
		for (int i = 0; i < n; i++) rank[i] = t->rank[index[i]];
		c->some = (struct caf_members){.n = n, .rank = rank};
		ARMCI_Group_create_child(n, index, &c->some.group, &t->group);
		c->members = c->some;
	} else {
		c->members = c->some;
	}
	free(index);
}

const struct caf_members *caf_members(struct caf_team *t) { return &t->calls->members; }

/* Not to be overrun by an image that broadcasts without end, or whose calls are not made since an
 * image has failed: a record must not be lost before all have taken part in its call. At the same
 * calls on all members. */
static void keep_together(struct caf_team *t, enum caf_call call)
{
	if (call == CAF_CALL_BARRIER) {
		t->calls->unsynced = 0;
	} else if (++t->calls->unsynced >= CAF_LEDGER_CALLS / 2) {
		caf_gate(t);
		t->calls->unsynced = 1;
	}
}

int caf_calls_stat(struct caf_team *t, uint64_t number) { return stat_of(t, number, false); }

int caf_begin(struct caf_team *t, enum caf_call call, int root, int type, int n)
{
	keep_together(t, call);
	if (unlikely(t->calls->stopped))
		return CAF_STOPPED_IMAGE;
	record(t, call, root, type, n);
	if (likely(caf_ended() == 0))
		return CAF_OK;
	caf_calls_look(t);
	uint64_t number = own_ledger(t)->begun;
	int code = stat_of(t, number, false);
	t->calls->stopped = code == CAF_STOPPED_IMAGE;
	if (call == CAF_CALL_BARRIER && code != CAF_STOPPED_IMAGE)
		choose_members(t, number, false);
	return code;
}

static int finish(struct caf_team *t, bool barrier)
{
	if (likely(caf_ended() == 0))
		return CAF_OK;
	caf_calls_look(t);
	uint64_t number = own_ledger(t)->begun;
	int code = stat_of(t, number, true);
	if (barrier && code != CAF_STOPPED_IMAGE)
		choose_members(t, number, true);
	return code;
}

int caf_finish(struct caf_team *t) { return finish(t, false); }

int caf_gate(struct caf_team *t)
{
	int code = caf_begin(t, CAF_CALL_BARRIER, 0, 0, 0);
	if (code == CAF_STOPPED_IMAGE)
		return code;
	caf_call_barrier(t->calls->members.group);
	return finish(t, true);
}

int caf_barrier(struct caf_team *t)
{
	ARMCI_AllFence();
	return caf_gate(t);
}
