/* SPDX-License-Identifier: BSD-3-Clause */
/* FORM TEAM: the images of the current team divide into teams of equal number. */
#include "caf.h"

/* What the images of the current team ask for, by index: a number, and an index in the new team or
 * 0. Number 0: has ended. replaced: the statement that has formed the team which the image's
 * variable holds, or 0. */
struct wish {
	int number, index, replaced;
};

static void *memory(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);
	if (!p)
		caf_fatal("FORM TEAM: no memory");
	return p;
}

/* The wishes of all that are in this statement. */
static struct wish *gather(struct caf_team *t, struct wish own)
{
	const struct caf_members *m = caf_members(t);
	struct wish *w = memory((size_t)t->n, sizeof *w);
	ARMCI_Group group = m->group;
	w[t->me] = own;
	armci_msg_group_igop(&w->number, 3 * t->n, "+", &group);
	return w;
}

static int size_of(const struct wish *w, int n, int number)
{
	int size = 0;
	for (int i = 0; i < n; i++) size += w[i].number == number;
	return size;
}

/* Places the images of a number: member[k] is the index in the parent of the new team's index k.
 * Returns the index of an image that asks for what it cannot have, or -1. */
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

static struct caf_team *describe(const struct caf_team *parent, const int *member, int size,
	int number)
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

/* An image whose wish cannot be granted; all images find the same one. The new teams otherwise, as
 * a list, the image's own first. */
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

/* Frees a team that none of its images can name any more, and those formed in it; all its images
 * call it. */
static void dissolve(struct caf_team *old)
{
	for (struct caf_team *t = caf.teams; t; t = t->next)
		if (t->parent == old) {
			dissolve(t);
			t = caf.teams; /* the list has changed; its first is another */
		}
	caf_calls_free(old);
	ARMCI_Group_free(&old->group);
	struct caf_team **link = &caf.teams;
	while (*link != old) link = &(*link)->next;
	*link = old->next;
	forget(old->siblings);
	free(old->rank);
	free(old);
}

/* The team that the variable holds since an earlier FORM TEAM in the current team has put it there.
 */
static struct caf_team *replaced(struct caf_team **variable)
{
	struct caf_team *t = *variable;
	return caf_team_lives(t) && t->variable == variable && t->parent == caf.current ? t : NULL;
}

/* Whether all images of a team that was formed in the parent replace it. */
static bool unused(const struct caf_team *old, const struct caf_team *parent, const struct wish *w)
{
	int n = 0;
	for (int i = 0; i < parent->n; i++)
		for (int k = 0; k < old->n && w[i].replaced == old->statement; k++)
			n += old->rank[k] == parent->rank[i];
	return n == old->n;
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

/* 0 in a wish stands for images that are not there and for indexes that are not asked for. */
static struct wish wish_of(int number, const int *index, const struct caf_team *old)
{
	return (struct wish){number ? number : -1,
		!index         ? 0 :
			*index ? *index :
				 -1,
		old ? old->statement : 0};
}

static int form(int number, const int *index, struct caf_team **team, int *stat, char *errmsg,
	size_t length)
{
	struct caf_team *parent = caf.current, *old = replaced(team), *teams;
	int code = caf_barrier(parent);
	if (code == CAF_STOPPED_IMAGE)
		return code;
	struct wish *w = gather(parent, wish_of(number, index, old));
	int wrong = divide(parent, w, &teams);
	struct wish bad = wrong >= 0 ? w[wrong] : (struct wish){0};
	if (wrong < 0) {
		teams->statement = ++parent->formed;
		teams->variable = team;
		*team = establish(parent, teams);
		if (old && unused(old, parent, w))
			dissolve(old);
	}
	free(w);
	if (wrong < 0)
		return code;
	if (bad.number < 0)
		caf_error(CAF_NO_TEAM, stat, errmsg, length,
			"FORM TEAM: the team number of image %d is not positive", wrong + 1);
	else
		caf_error(CAF_NO_TEAM, stat, errmsg, length,
			"FORM TEAM: NEW_INDEX %d of image %d is too large, not positive, or taken",
			bad.index, wrong + 1);
	return -1;
}

/* gfortran 16 passes the address of the index, or, of a constant, the address of its address. Null:
 * none. */
static const int *index_of(const int *new_index)
{
	const int *constant;
	if (!new_index || (*new_index >= 1 && *new_index <= caf.current->n))
		return new_index;
	memcpy(&constant, new_index, sizeof constant);
	return caf_is_address(constant) ? constant : new_index;
}

/* gfortran up to 15 passes an int 0 as new_index, and nothing behind it; from 16: its address or
 * null, stat and errmsg. */
CAF_API void _gfortran_caf_form_team(int number, struct caf_team **team, const int *new_index,
	int *stat, char *errmsg, size_t length)
{
	if (new_index)
		caf_seen_gfortran_16();
	if (!caf_gfortran_16())
		stat = NULL;
	int code = form(number, index_of(new_index), team, stat, errmsg, length);
	if (code >= 0)
		caf_report(code, stat, errmsg, length, "FORM TEAM");
}
