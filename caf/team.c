/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: which one is meant, CHANGE TEAM, END TEAM, and questions about teams. */
#include "caf.h"

bool caf_team_lives(const void *team)
{
	const struct caf_team *t = caf.teams;
	while (t && t != team) t = t->next;
	return t != NULL;
}

/* Numbers below stand for the current team, not for an address: gfortran passes 0 and -1 where a
 * program names no team. */
enum { SMALLEST_ADDRESS = 4096 };
static bool no_team(const void *handle)
{
	return (intptr_t)handle < SMALLEST_ADDRESS && (intptr_t)handle >= -1;
}
/* as an int, whatever is above it */
static bool minus_one(const void *handle) { return (int)(intptr_t)handle == -1; }

struct caf_team *caf_team_of(const void *handle)
{
	if (no_team(handle) || minus_one(handle))
		return caf.current;
	if (caf_team_lives(handle))
		return (struct caf_team *)handle;
	if ((uintptr_t)handle % sizeof(void *) || caf_gfortran_16())
		return NULL;
	void *variable = *(void *const *)handle;
	return caf_team_lives(variable) ? variable : NULL;
}

/* gfortran 16 passes teams, older ones the address of a variable that holds one. */
bool caf_new_style(const void *team)
{
	if (caf_team_lives(team))
		caf_seen_gfortran_16();
	return caf_gfortran_16();
}

/* A team that is not the current one: -1 is the initial team, else a sibling. */
static struct caf_team *numbered(int number)
{
	if (number == -1)
		return caf.initial;
	if (number == caf.current->number)
		return caf.current;
	struct caf_team *t = caf.current->siblings;
	while (t && t->number != number) t = t->next;
	return t;
}

struct caf_team *caf_access_team(void *const *team, const int *number)
{
	if (team)
		return caf_team_lives(*team) ? *team : NULL;
	return number ? numbered(*number) : caf.current;
}

/* The stat of gfortran 16; older compilers pass nothing behind the team. */
struct answer {
	int *stat;
	char *errmsg;
	size_t length;
};
static void report(const struct answer *a, int code, const char *what)
{
	caf_report(code, a->stat, a->errmsg, a->length, what);
}

CAF_API void _gfortran_caf_change_team(const void *team, int *stat, char *errmsg, size_t length)
{
	struct answer a = {0};
	if (caf_new_style(team))
		a = (struct answer){stat, errmsg, length};
	struct caf_team *t = caf_team_of(team);
	if (!t || !team || t->parent != caf.current) {
		caf_error(CAF_NO_TEAM, a.stat, a.errmsg, a.length,
			"CHANGE TEAM: not a team that was formed in the current one");
		return;
	}
	int code = caf_barrier(t);
	caf.current = t;
	report(&a, code, "CHANGE TEAM");
}

/* gfortran up to 15 passes null only. */
CAF_API void _gfortran_caf_end_team(int *stat, char *errmsg, size_t length)
{
	struct caf_team *t = caf.current;
	if (!t->parent) {
		caf_error(CAF_NO_TEAM, stat, errmsg, length,
			"END TEAM: the current team is the initial one");
		return;
	}
	int code = caf_barrier(t);
	caf_free_allocated(t);
	caf.current = t->parent;
	caf_report(code, stat, errmsg, length, "END TEAM");
}

CAF_API int _gfortran_caf_team_number(const void *team)
{
	const struct caf_team *t = caf_team_of(team);
	if (!t)
		caf_fatal("TEAM_NUMBER: not a team that this image has formed");
	return t->number;
}

/* The values of ISO_FORTRAN_ENV; gfortran up to 15 passes no address but null. */
enum { INITIAL_TEAM = 0, PARENT_TEAM = 1, CURRENT_TEAM = 2 };

CAF_API void *_gfortran_caf_get_team(const int *level)
{
	if (no_team(level))
		return caf.current;
	switch (*level) {
	case INITIAL_TEAM:
		return caf.initial;
	case PARENT_TEAM:
		return caf.current->parent ? caf.current->parent : caf.initial;
	case CURRENT_TEAM:
		return caf.current;
	}
	caf_fatal("GET_TEAM: there is no level %d", *level);
}
