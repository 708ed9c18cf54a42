/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts. One that a single thread uses at a time has an ARMCI handle of its own for nonblocking
 * calls; the others share the implicit handle, which any thread may use.
 */
#include <pthread.h>

#include "osh.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the lists of teams */

static int create(struct osh_team *t, long options, shmem_ctx_t *ctx)
{
	struct osh_ctx *c = calloc(1, sizeof *c);
	*ctx = (shmem_ctx_t)c;
	if (!c)
		return -1;
	c->n = t->n;
	c->rank = t == osh.world ? NULL : t->rank;
	c->own = options & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED) ||
		osh.threads != SHMEM_THREAD_MULTIPLE;
	c->team = t;
	c->options = options;
	ARMCI_INIT_HANDLE(&c->handle);
	pthread_mutex_lock(&lock);
	c->next = t->contexts;
	t->contexts = c;
	pthread_mutex_unlock(&lock);
	return 0;
}

static void drop(struct osh_ctx *c)
{
	osh_quiet(c);
	pthread_mutex_lock(&lock);
	struct osh_ctx **at = &c->team->contexts;
	while (*at != c) at = &(*at)->next;
	*at = c->next;
	pthread_mutex_unlock(&lock);
	free(c);
}

void osh_contexts_end(struct osh_team *team)
{
	while (team->contexts) drop(team->contexts);
}

API(int, ctx_create, (long options, shmem_ctx_t *ctx))
{
	return create(osh_team(SHMEM_TEAM_WORLD, FN), options, ctx);
}

API(int, team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))
{
	if (team == SHMEM_TEAM_INVALID) {
		*ctx = SHMEM_CTX_INVALID;
		return -1;
	}
	return create(osh_team(team, FN), options, ctx);
}

API(void, ctx_destroy, (shmem_ctx_t ctx))
{
	if (ctx == SHMEM_CTX_INVALID)
		return;
	struct osh_ctx *c = osh_ctx(ctx, FN);
	if (c == &osh.world_ctx)
		osh_die(FN, "ctx: SHMEM_CTX_DEFAULT cannot be destroyed");
	drop(c);
}

API(int, ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team))
{
	*team = SHMEM_TEAM_INVALID;
	if (ctx == SHMEM_CTX_INVALID)
		return -1;
	struct osh_team *t = osh_ctx(ctx, FN)->team;
	*team = t == osh.world ? SHMEM_TEAM_WORLD : t == osh.shared ? SHMEM_TEAM_SHARED :
								      (shmem_team_t)t;
	return 0;
}
