/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams and active sets: groups of ARMCI. A group's order is ascending, a team's need not be: a
 * team keeps the members' order itself. */
#include <pthread.h>

#include "osh.h"

/* An active set that has been used. Its team is kept until the end. */
struct set {
	int start, log_stride, size;
	struct osh_team *team;
	struct set *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct set *sets;

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Members call it together; rank holds the world's numbers in the team's order. */
struct osh_team *osh_team_create(int n, const int *rank)
{
	struct osh_team *t = osh_alloc(sizeof *t);
	int *sorted = osh_alloc((size_t)n * sizeof *sorted);
	ARMCI_Group world;
	t->n = n;
	t->near = true;
	t->rank = osh_alloc((size_t)n * sizeof *t->rank);
	t->number = osh_alloc((size_t)osh.n * sizeof *t->number);
	for (int i = 0; i < osh.n; i++) t->number[i] = -1;
	for (int i = 0; i < n; i++) {
		t->rank[i] = sorted[i] = rank[i];
		t->number[rank[i]] = i;
		t->near = t->near && osh.sleepers[rank[i]];
	}
	t->me = t->number[osh.me];
	qsort(sorted, (size_t)n, sizeof *sorted, by_number);
	engine.ARMCI_Group_get_world(&world);
	if (n == osh.n)
		t->group = world;
	else
		engine.ARMCI_Group_create_child(n, sorted, &t->group, &world);
	free(sorted);
	return t;
}

static void destroy(struct osh_team *t)
{
	osh_contexts_end(t);
	if (t->n != osh.n)
		engine.ARMCI_Group_free(&t->group);
	free(t->rank);
	free(t->number);
	free(t);
}

void osh_teams_start(void)
{
	int *rank = osh_alloc((size_t)osh.n * sizeof *rank), near = 0;
	for (int i = 0; i < osh.n; i++) rank[i] = i;
	osh.world = osh_team_create(osh.n, rank);
	for (int i = 0; i < osh.n; i++)
		if (osh.sleepers[i])
			rank[near++] = i;
	osh.shared = osh_team_create(near, rank);
	free(rank);
	osh.world_ctx = (struct osh_ctx){.n = osh.n, .team = osh.world};
}

void osh_teams_end(void)
{
	for (struct set *next; sets; sets = next) {
		next = sets->next;
		destroy(sets->team);
		free(sets);
	}
	destroy(osh.shared);
	destroy(osh.world);
}

struct osh_team *osh_active_set(const char *fn, int start, int log_stride, int size)
{
	struct osh_team *world = osh_team(SHMEM_TEAM_WORLD, fn);
	if (start == 0 && log_stride == 0 && size == osh.n)
		return world;
	if (start < 0 || log_stride < 0 || log_stride > 30 || size < 1 ||
		start + ((int64_t)(size - 1) << log_stride) >= osh.n)
		osh_die(fn, "PE_start %d, logPE_stride %d, PE_size %d: not within PEs 0 to %d",
			start, log_stride, size, osh.n - 1);
	int distance = osh.me - start;
	if (distance < 0 || distance & ((1 << log_stride) - 1) || distance >> log_stride >= size)
		osh_die(fn, "PE_start %d, logPE_stride %d, PE_size %d: this PE is no member",
			start, log_stride, size);
	pthread_mutex_lock(&lock);
	struct set *s = sets;
	while (s && (s->start != start || s->log_stride != log_stride || s->size != size))
		s = s->next;
	if (!s) {
		int *rank = osh_alloc((size_t)size * sizeof *rank);
		for (int i = 0; i < size; i++) rank[i] = start + (i << log_stride);
		s = osh_alloc(sizeof *s);
		*s = (struct set){start, log_stride, size, osh_team_create(size, rank), sets};
		sets = s;
		free(rank);
	}
	pthread_mutex_unlock(&lock);
	return s->team;
}

API(int, team_my_pe, (shmem_team_t team))
{
	return team == SHMEM_TEAM_INVALID ? -1 : osh_team(team, FN)->me;
}

API(int, team_n_pes, (shmem_team_t team))
{
	return team == SHMEM_TEAM_INVALID ? -1 : osh_team(team, FN)->n;
}

API(int, team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config))
{
	if (team == SHMEM_TEAM_INVALID)
		return -1;
	if (config_mask & SHMEM_TEAM_NUM_CONTEXTS)
		config->num_contexts = osh_team(team, FN)->config.num_contexts;
	return 0;
}

API(int, team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))
{
	if (src_team == SHMEM_TEAM_INVALID || dest_team == SHMEM_TEAM_INVALID)
		return -1;
	struct osh_team *from = osh_team(src_team, FN), *to = osh_team(dest_team, FN);
	return src_pe < 0 || src_pe >= from->n ? -1 : to->number[from->rank[src_pe]];
}

/* The members are at first, first + stride, ... in the parent. A caller that is none of them gets
 * SHMEM_TEAM_INVALID. */
static void split(struct osh_team *parent, int first, int stride, int size,
	const shmem_team_config_t *config, long mask, shmem_team_t *team)
{
	int *rank = osh_alloc((size_t)size * sizeof *rank);
	bool member = false;
	for (int i = 0; i < size; i++) {
		rank[i] = parent->rank[first + i * stride];
		member |= rank[i] == osh.me;
	}
	if (member) {
		struct osh_team *t = osh_team_create(size, rank);
		if (config && mask & SHMEM_TEAM_NUM_CONTEXTS)
			t->config = *config;
		*team = (shmem_team_t)t;
	}
	free(rank);
}

API(int, team_split_strided, (shmem_team_t parent_team, int start, int stride, int size,
	const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team))
{
	*new_team = SHMEM_TEAM_INVALID;
	if (parent_team == SHMEM_TEAM_INVALID)
		return -1;
	struct osh_team *parent = osh_team(parent_team, FN);
	int64_t last = start + (int64_t)(size - 1) * stride;
	if (size < 1 || start < 0 || start >= parent->n || last < 0 || last >= parent->n ||
		(stride == 0 && size > 1))
		return -1;
	split(parent, start, stride, size, config, config_mask, new_team);
	return 0;
}

API(int, team_split_2d, (shmem_team_t parent_team, int xrange,
	const shmem_team_config_t *xaxis_config, long xaxis_mask, shmem_team_t *xaxis_team,
	const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team))
{
	*xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
	if (parent_team == SHMEM_TEAM_INVALID || xrange < 1)
		return -1;
	struct osh_team *parent = osh_team(parent_team, FN);
	if (xrange > parent->n)
		xrange = parent->n;
	int x = parent->me % xrange, y = parent->me / xrange, left = parent->n - y * xrange;
	split(parent, y * xrange, 1, left < xrange ? left : xrange, xaxis_config, xaxis_mask,
		xaxis_team);
	split(parent, x, xrange, (parent->n - x + xrange - 1) / xrange, yaxis_config, yaxis_mask,
		yaxis_team);
	return 0;
}

API(void, team_destroy, (shmem_team_t team))
{
	if (team == SHMEM_TEAM_INVALID)
		return;
	if (team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED)
		osh_die(FN, "team: a predefined team cannot be destroyed");
	destroy(osh_team(team, FN));
}
