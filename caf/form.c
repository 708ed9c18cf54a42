/* SPDX-License-Identifier: BSD-3-Clause */
/* FORM TEAM: the images of the current team divide into teams of equal number. */
#include "caf.h"

/* What the images of the current team ask for, by index: a number, and an index in the new team or 0. Number 0: has ended. */
struct wish {
	int number, index;
};

static void *memory(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);
	if (!p)
		caf_fatal("FORM TEAM: no memory");
	return p;
}

/* The wishes of all that are in this statement. */
static struct wish *gather(struct caf_team *t, int number, int index)
{
	const struct caf_members *m = caf_members(t);
	struct wish *w = memory((size_t)t->n, sizeof *w);
	ARMCI_Group group = m->group;
	w[t->me] = (struct wish){number, index};
	armci_msg_group_igop(&w->number, 2 * t->n, "+", &group);
	return w;
}

static int size_of(const struct wish *w, int n, int number)
{
	int size = 0;
	for (int i = 0; i < n; i++) size += w[i].number == number;
	return size;
}

/* Places the images of a number: member[k] is the index in the parent of the new team's index k. Returns the index of an image
 * that asks for what it cannot have, or -1. */
static int place(const struct wish *w, int n, int number, int *member, int size)
{
	for (int k = 0; k < size; k++) member[k] = -1;
	for (int i = 0; i < n; i++) {
		if (w[i].number != number || !w[i].index)
			continue;
		if (w[i].index < 1 || w[i].index > size || member[w[i].index - 1] >= 0)
			return i;
		member[w[i].index - 1] = i;
	}
	int next = 0;
	for (int i = 0; i < n; i++) {
		if (w[i].number != number || w[i].index)
			continue;
		while (member[next] >= 0) next++;
		member[next] = i;
	}
	return -1;
}

static struct caf_team *describe(const struct caf_team *parent, const int *member, int size, int number)
{
	struct caf_team *t = memory(1, sizeof *t);
	t->number = number;
	t->n = size;
	t->me = -1;
	t->rank = memory((size_t)size, sizeof *t->rank);
	for (int k = 0; k < size; k++) {
		t->rank[k] = parent->rank[member[k]];
		if (t->rank[k] == caf.me)
			t->me = k;
	}
	return t;
}

static void forget(struct caf_team *t)
{
	while (t) {
		struct caf_team *next = t->next;
		free(t->rank);
		free(t);
		t = next;
	}
}

/* An image whose wish cannot be granted; all images find the same one. The new teams otherwise, as a list, the image's own first. */
static int divide(const struct caf_team *parent, const struct wish *w, struct caf_team **teams)
{
	int n = parent->n, wrong = -1;
	int *member = memory((size_t)n, sizeof *member);
	char *done = memory((size_t)n, 1);
	*teams = NULL;
	for (int i = 0; i < n && wrong < 0; i++) {
		if (done[i] || w[i].number == 0)
			continue;
		int size = size_of(w, n, w[i].number);
		wrong = w[i].number < 0 ? i : place(w, n, w[i].number, member, size);
		if (wrong >= 0)
			break;
		for (int k = 0; k < size; k++) done[member[k]] = 1;
		struct caf_team *t = describe(parent, member, size, w[i].number);
		if (t->me >= 0 || !*teams) {
			t->next = *teams;
			*teams = t;
		} else {
			t->next = (*teams)->next;
			(*teams)->next = t;
		}
	}
	free(member);
	free(done);
	if (wrong >= 0)
		forget(*teams);
	return wrong;
}

static struct caf_team *establish(struct caf_team *parent, struct caf_team *t)
{
	ARMCI_Group members = caf_members(parent)->group;
	if (ARMCIX_Group_split(&members, t->number, t->me, &t->group) != 0 || !caf_calls_create(t))
		caf_fatal("FORM TEAM: no memory for team %d", t->number);
	t->siblings = t->next;
	t->parent = parent;
	t->next = caf.teams;
	caf.teams = t;
	return t;
}

static int form(int number, int index, bool indexed, struct caf_team **team, int *stat, char *errmsg, size_t length)
{
	struct caf_team *parent = caf.current, *teams;
	int code = caf_barrier(parent);
	if (code == CAF_STOPPED_IMAGE)
		return code;
	/* 0 stands for images that are not there, and for indexes that are not asked for */
	struct wish *w = gather(parent, number ? number : -1, indexed && !index ? -1 : index);
	int wrong = divide(parent, w, &teams);
	struct wish bad = wrong >= 0 ? w[wrong] : (struct wish){0};
	free(w);
	if (wrong < 0) {
		*team = establish(parent, teams);
		return code;
	}
	if (bad.number < 0)
		caf_error(CAF_NO_TEAM, stat, errmsg, length, "FORM TEAM: the team number of image %d is not positive", wrong + 1);
	else
		caf_error(CAF_NO_TEAM, stat, errmsg, length, "FORM TEAM: NEW_INDEX %d of image %d is too large, not positive, or taken",
			bad.index, wrong + 1);
	return -1;
}

/* gfortran up to 15 passes an int 0 as new_index, and nothing behind it; from 16: its address or null, stat and errmsg. */
CAF_API void _gfortran_caf_form_team(int number, struct caf_team **team, const int *new_index, int *stat, char *errmsg, size_t length)
{
	if (new_index)
		caf_seen_gfortran_16();
	if (!caf_gfortran_16())
		stat = NULL;
	int code = form(number, new_index ? *new_index : 0, new_index != NULL, team, stat, errmsg, length);
	if (code >= 0)
		caf_report(code, stat, errmsg, length, "FORM TEAM");
}
