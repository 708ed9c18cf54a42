/* SPDX-License-Identifier: BSD-3-Clause */
/* Order, completion and barriers. Blocking calls take effect in order at each PE; nonblocking ones
 * that are open have none until they have been waited for. */
#include "osh.h"

static void wait_for_open(struct osh_ctx *ctx, const char *fn)
{
	int code = 0;
	if (!atomic_load_explicit(&ctx->open, memory_order_relaxed))
		return;
	if (ctx->own) {
		atomic_store_explicit(&ctx->open, false, memory_order_relaxed);
		code = engine.ARMCI_Wait(&ctx->handle);
	} else if (atomic_exchange(&ctx->open, false)) {
		code = engine.ARMCI_WaitAll();
	}
	if (code != 0)
		osh_failed(fn, code);
}

void osh_quiet(struct osh_ctx *ctx)
{
	wait_for_open(ctx, "shmem_quiet");
	engine.ARMCI_AllFence();
}

/* Stores to the node are ordered by the processor's fence, those beyond by their connections. */
static void fence(struct osh_ctx *ctx)
{
	wait_for_open(ctx, "shmem_fence");
	atomic_thread_fence(memory_order_acq_rel);
}

void osh_barrier(struct osh_team *team)
{
	engine.armci_msg_group_barrier(&team->group);
}

API(void, fence, (void)) { fence(&osh.world_ctx); }
API(void, ctx_fence, (shmem_ctx_t ctx))
{
	if (ctx != SHMEM_CTX_INVALID)
		fence(osh_ctx(ctx, FN));
}
API(void, quiet, (void)) { osh_quiet(&osh.world_ctx); }
API(void, ctx_quiet, (shmem_ctx_t ctx))
{
	if (ctx != SHMEM_CTX_INVALID)
		osh_quiet(osh_ctx(ctx, FN));
}

API(void, barrier_all, (void))
{
	struct osh_team *t = osh_team(SHMEM_TEAM_WORLD, FN);
	osh_quiet(&osh.world_ctx);
	osh_barrier(t);
}

API(void, sync_all, (void)) { osh_barrier(osh_team(SHMEM_TEAM_WORLD, FN)); }

API(int, team_sync, (shmem_team_t team))
{
	osh_barrier(osh_team(team, FN));
	return 0;
}

/* Deprecated: over active sets. */
API(void, barrier, (int PE_start, int logPE_stride, int PE_size, long *pSync))
{
	(void)pSync;
	osh_quiet(&osh.world_ctx);
	osh_barrier(osh_active_set(FN, PE_start, logPE_stride, PE_size));
}

API(void, sync, (int PE_start, int logPE_stride, int PE_size, long *pSync))
{
	(void)pSync;
	osh_barrier(osh_active_set(FN, PE_start, logPE_stride, PE_size));
}

/* Deprecated: memory is coherent. */
API(void, clear_cache_inv, (void)) {}
API(void, set_cache_inv, (void)) {}
API(void, clear_cache_line_inv, (void *dest)) { (void)dest; }
API(void, set_cache_line_inv, (void *dest)) { (void)dest; }
API(void, udcflush, (void)) {}
API(void, udcflush_line, (void *dest)) { (void)dest; }
