/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, collect and alltoall over teams and active sets. A broadcast is ARMCI's; in the others
 * each PE puts its blocks to where they belong, and a barrier says that all have. Another one is
 * before the puts: the specification leaves it to the program that destinations are ready, and
 * programs forget it.
 */
#include <limits.h>

#include "osh.h"

enum { PIECE = 1 << 30 };

void osh_broadcast(struct osh_team *t, void *dest, const void *source, size_t bytes, int root,
	bool at_root, const char *fn)
{
	if (root < 0 || root >= t->n)
		osh_bad_pe(fn, root, t->n);
	if (!bytes) {
		osh_barrier(t);
		return;
	}
	osh_at(dest, bytes, osh.me, fn);
	char *buffer = t->me == root ? (char *)(uintptr_t)source : dest;
	for (size_t left = bytes; left > 0;) {
		int piece = left < PIECE ? (int)left : PIECE;
		engine.armci_msg_group_bcast_scope(SCOPE_ALL, buffer, piece, t->rank[root],
			&t->group);
		buffer += piece;
		left -= (size_t)piece;
	}
	if (t->me == root && at_root && dest != source)
		memmove(dest, source, bytes);
}

/* Puts complete at all members, then they go on. On the node they are complete. */
static void finish(struct osh_team *t)
{
	if (!t->near)
		engine.ARMCI_GroupFence(&t->group);
	osh_barrier(t);
}

/* Puts a block to one member. */
static void put_block(struct osh_team *t, int to, char *dest, const char *source, size_t bytes,
	const char *fn)
{
	if (to != t->me)
		osh_put(&osh.world_ctx, dest, source, bytes, t->rank[to], fn);
	else
		memmove(dest, source, bytes);
}

/* Bytes of the members before this one. All members have arrived when it returns. */
static size_t bytes_before(struct osh_team *t, size_t bytes, bool equal)
{
	if (equal) {
		osh_barrier(t);
		return bytes * (size_t)t->me;
	}
	long *all = osh_alloc((size_t)t->n * sizeof *all);
	all[t->me] = (long)bytes;
	engine.armci_msg_group_lgop(all, t->n, "+", &t->group);
	size_t before = 0;
	for (int i = 0; i < t->me; i++) before += (size_t)all[i];
	free(all);
	return before;
}

void osh_collect(struct osh_team *t, void *dest, const void *source, size_t bytes, bool equal,
	const char *fn)
{
	char *to = (char *)dest + bytes_before(t, bytes, equal);
	if (bytes)
		for (int i = 1; i <= t->n; i++)
			put_block(t, (t->me + i) % t->n, to, source, bytes, fn);
	finish(t);
}

void osh_alltoall(struct osh_team *t, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
	size_t nelems, size_t elem, const char *fn)
{
	if (dst < 1 || sst < 1)
		osh_die(fn, "%s: a stride of %td elements", dst < 1 ? "dst" : "sst",
			dst < 1 ? dst : sst);
	osh_barrier(t);
	char *to = (char *)dest + (size_t)t->me * nelems * (size_t)dst * elem;
	size_t block = nelems * (size_t)sst * elem;
	for (int i = 1; i <= t->n && nelems; i++) {
		int member = (t->me + i) % t->n;
		const char *from = (const char *)source + (size_t)member * block;
		if (dst == 1 && sst == 1)
			put_block(t, member, to, from, block, fn);
		else if (elem == 8)
			pshmem_iput64(to, from, dst, sst, nelems, t->rank[member]);
		else if (elem == 4)
			pshmem_iput32(to, from, dst, sst, nelems, t->rank[member]);
		else if (elem == 2)
			pshmem_iput16(to, from, dst, sst, nelems, t->rank[member]);
		else if (elem == 1)
			pshmem_iput8(to, from, dst, sst, nelems, t->rank[member]);
		else
			pshmem_iput128(to, from, dst, sst, nelems, t->rank[member]);
	}
	finish(t);
}

#define COLLECTIVES(BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS, TYPE, BYTES) \
	API(int, BROADCAST, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, \
		int PE_root)) \
	{ \
		osh_broadcast(osh_team(team, FN), dest, source, nelems * BYTES, PE_root, true, \
			FN); \
		return 0; \
	} \
	API(int, COLLECT, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)) \
	{ \
		osh_collect(osh_team(team, FN), dest, source, nelems * BYTES, false, FN); \
		return 0; \
	} \
	API(int, FCOLLECT, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)) \
	{ \
		osh_collect(osh_team(team, FN), dest, source, nelems * BYTES, true, FN); \
		return 0; \
	} \
	API(int, ALLTOALL, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)) \
	{ \
		osh_alltoall(osh_team(team, FN), dest, source, 1, 1, nelems, BYTES, FN); \
		return 0; \
	} \
	API(int, ALLTOALLS, (shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, \
		ptrdiff_t sst, size_t nelems)) \
	{ \
		osh_alltoall(osh_team(team, FN), dest, source, dst, sst, nelems, BYTES, FN); \
		return 0; \
	}
#define TYPED(NAME, TYPE) \
	COLLECTIVES(NAME##_broadcast, NAME##_collect, NAME##_fcollect, NAME##_alltoall, \
		NAME##_alltoalls, TYPE, sizeof(TYPE))
SHMEM_RMA_TYPES_(TYPED)
COLLECTIVES(broadcastmem, collectmem, fcollectmem, alltoallmem, alltoallsmem, void, 1)

/* Deprecated: over active sets. Work arrays are not needed. */
#define SET osh_active_set(FN, PE_start, logPE_stride, PE_size)
#define ACTIVE_SET(BITS, BYTES) \
	API(void, broadcast##BITS, (void *dest, const void *source, size_t nelems, int PE_root, \
		int PE_start, int logPE_stride, int PE_size, long *pSync)) \
	{ \
		(void)pSync; \
		osh_broadcast(SET, dest, source, nelems * BYTES, PE_root, false, FN); \
	} \
	API(void, collect##BITS, (void *dest, const void *source, size_t nelems, int PE_start, \
		int logPE_stride, int PE_size, long *pSync)) \
	{ \
		(void)pSync; \
		osh_collect(SET, dest, source, nelems * BYTES, false, FN); \
	} \
	API(void, fcollect##BITS, (void *dest, const void *source, size_t nelems, int PE_start, \
		int logPE_stride, int PE_size, long *pSync)) \
	{ \
		(void)pSync; \
		osh_collect(SET, dest, source, nelems * BYTES, true, FN); \
	} \
	API(void, alltoall##BITS, (void *dest, const void *source, size_t nelems, int PE_start, \
		int logPE_stride, int PE_size, long *pSync)) \
	{ \
		(void)pSync; \
		osh_alltoall(SET, dest, source, 1, 1, nelems, BYTES, FN); \
	} \
	API(void, alltoalls##BITS, (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, \
		size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync)) \
	{ \
		(void)pSync; \
		osh_alltoall(SET, dest, source, dst, sst, nelems, BYTES, FN); \
	}
ACTIVE_SET(32, 4)
ACTIVE_SET(64, 8)
