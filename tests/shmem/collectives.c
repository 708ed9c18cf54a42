/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcast, collect and alltoall of every type and of several sizes, over teams and active
 * sets. */
#include "check.h"

enum { MOST = 4000, PES = 16 };

#define BUFFERS(NAME, TYPE) static TYPE NAME##_to[PES * 12], NAME##_from[PES * 12];
SHMEM_RMA_TYPES_(BUFFERS)
static uint64_t to[PES * MOST], from[PES * MOST];
static long sync_array[SHMEM_COLLECT_SYNC_SIZE];

#define TYPED(NAME, TYPE) \
	static void test_##NAME(shmem_team_t team) \
	{ \
		int members = shmem_team_n_pes(team), mine = shmem_team_my_pe(team); \
		TYPE *a = NAME##_to, *b = NAME##_from; \
		for (int i = 0; i < PES * 12; i++) b[i] = (TYPE)(mine * 7 + i), a[i] = 0; \
		for (int root = 0; root < members; root++) { \
			CHECK(shmem_##NAME##_broadcast(team, a, b, 3, root) == 0); \
			for (int i = 0; i < 3; i++) CHECK(a[i] == (TYPE)(root * 7 + i)); \
			CHECK(a[3] == 0); \
			shmem_team_sync(team); \
		} \
		CHECK(shmem_##NAME##_fcollect(team, a, b, 2) == 0); \
		for (int i = 0; i < 2 * members; i++) CHECK(a[i] == (TYPE)(i / 2 * 7 + i % 2)); \
		CHECK(shmem_##NAME##_collect(team, a, b, (size_t)(mine % 3)) == 0); \
		for (int pe = 0, k = 0; pe < members; pe++) \
			for (int i = 0; i < pe % 3; i++) CHECK(a[k++] == (TYPE)(pe * 7 + i)); \
		CHECK(shmem_##NAME##_alltoall(team, a, b, 3) == 0); \
		for (int i = 0; i < 3 * members; i++) \
			CHECK(a[i] == (TYPE)(i / 3 * 7 + mine * 3 + i % 3)); \
		for (int i = 0; i < PES * 12; i++) a[i] = 0; \
		shmem_team_sync(team); \
		CHECK(shmem_##NAME##_alltoalls(team, a, b, 3, 2, 2) == 0); \
		for (int i = 0; i < 6 * members; i++) \
			CHECK(a[i] == (TYPE)(i % 3 ? 0 : i / 6 * 7 + mine * 4 + i % 6 / 3 * 2)); \
	}
SHMEM_RMA_TYPES_(TYPED)

static void bytes(shmem_team_t team, size_t count)
{
	int members = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);
	size_t size = count * sizeof *to;
	for (size_t i = 0; i < count * (size_t)members; i++) from[i] = (uint64_t)mine << 40 | i;
	shmem_broadcastmem(team, to, from, size, members - 1);
	for (size_t i = 0; i < count; i++) CHECK(to[i] == ((uint64_t)(members - 1) << 40 | (i)));
	shmem_team_sync(team);
	shmem_fcollectmem(team, to, from, size);
	for (size_t i = 0; i < count * (size_t)members; i++)
		CHECK(to[i] == ((uint64_t)(i / count) << 40 | (i % count)));
	shmem_collectmem(team, to, from, mine == 1 ? 0 : size);
	for (size_t i = 0; i < count * (size_t)(members - (members > 1)); i++)
		CHECK(to[i] == ((uint64_t)(i / count + (i / count > 0)) << 40 | (i % count)));
	shmem_alltoallmem(team, to, from, size);
	for (size_t i = 0; i < count * (size_t)members; i++)
		CHECK(to[i] == ((uint64_t)(i / count) << 40 | ((size_t)mine * count + i % count)));
	shmem_team_sync(team);
}

static void active_set(int start, int log_stride, int size)
{
	int mine = (me - start) >> log_stride;
	if (me < start || (me - start) % (1 << log_stride) || mine >= size)
		return;
	for (int i = 0; i < 100; i++) from[i] = (uint64_t)(mine * 100 + i), to[i] = 0;
	shmem_barrier(start, log_stride, size, sync_array);
	shmem_broadcast64(to, from, 2, size - 1, start, log_stride, size, sync_array);
	CHECK(to[1] == (mine == size - 1 ? 0 : (uint64_t)(size - 1) * 100 + 1));
	shmem_sync(start, log_stride, size, sync_array);
	shmem_fcollect64(to, from, 2, start, log_stride, size, sync_array);
	for (int i = 0; i < 2 * size; i++) CHECK(to[i] == (uint64_t)(i / 2 * 100 + i % 2));
	shmem_collect64(to, from, (size_t)mine + 1, start, log_stride, size, sync_array);
	for (int pe = 0, k = 0; pe < size; pe++)
		for (int i = 0; i <= pe; i++) CHECK(to[k++] == (uint64_t)(pe * 100 + i));
	shmem_alltoall64(to, from, 2, start, log_stride, size, sync_array);
	for (int i = 0; i < 2 * size; i++)
		CHECK(to[i] == (uint64_t)(i / 2 * 100 + mine * 2 + i % 2));
	shmem_alltoalls32(to, from, 2, 2, 1, start, log_stride, size, sync_array);
	for (int i = 0; i < size; i++) CHECK((uint32_t)to[i] == (uint32_t)(i * 100 + mine));
	CHECK(sync_array[0] == SHMEM_SYNC_VALUE);
	shmem_barrier(start, log_stride, size, sync_array);
}

int main(void)
{
	begin();
	sync_array[0] = SHMEM_SYNC_VALUE;
	shmem_team_t team[3] = {SHMEM_TEAM_WORLD};
	CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &team[1]) == 0);
	CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0,
		      &team[2]) == 0);
	for (int t = 0; t < 3; t++) {
		if (team[t] == SHMEM_TEAM_INVALID)
			continue;
#define CALL(NAME, TYPE) test_##NAME(team[t]);
		SHMEM_RMA_TYPES_(CALL)
		for (size_t count = 1; count <= MOST; count = count * 15 + 3) bytes(team[t], count);
	}
	shmem_team_destroy(team[2]);
	shmem_team_destroy(team[1]);
	active_set(0, 0, n);
	active_set(0, 1, (n + 1) / 2);
	active_set(n / 2, 0, n - n / 2);
	return end("collectives");
}
