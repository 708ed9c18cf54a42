/* SPDX-License-Identifier: BSD-3-Clause */
/* The symmetric heap: blocks are apart, aligned, at the same address everywhere, and used again. */
#include "check.h"

static void same_offset(char *base, char *p)
{
	static long distance, sum;
	distance = p - base;
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &distance, 1);
	CHECK(sum == n * distance);
}

static void many(char *base)
{
	enum { BLOCKS = 300 };
	char *block[BLOCKS];
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < BLOCKS; i++) {
			size_t bytes = (size_t)(i * 37 % 1000 + 1);
			block[i] = shmem_malloc(bytes);
			CHECK(block[i]);
			memset(block[i], i, bytes);
		}
		for (int i = 0; i < BLOCKS; i++) {
			size_t bytes = (size_t)(i * 37 % 1000 + 1);
			CHECK(block[i][0] == (char)i && block[i][bytes - 1] == (char)i);
		}
		same_offset(base, block[BLOCKS / 2]);
		for (int i = round; i < BLOCKS + round; i++)
			shmem_free(block[i * 7 % BLOCKS]);
	}
}

int main(void)
{
	begin();
	char *base = shmem_malloc(1);
	CHECK(base);
	same_offset(base, base);
	static uint64_t address;
	address = (uintptr_t)base;
	shmem_barrier_all();
	CHECK(shmem_uint64_g(&address, right) == address);
	char all[64 << 10], *same = shmem_malloc(2 * sizeof all); /* from symmetric memory to it */
	memset(same, me + 1, sizeof all);
	memset(same + sizeof all, 0, sizeof all);
	shmem_barrier_all();
	shmem_putmem(same + sizeof all, same, sizeof all, right);
	shmem_barrier_all();
	memset(all, left + 1, sizeof all);
	CHECK(memcmp(same + sizeof all, all, sizeof all) == 0);
	shmem_getmem_nbi(same, same + sizeof all, sizeof all, right);
	shmem_quiet();
	memset(all, me + 1, sizeof all);
	CHECK(memcmp(same, all, sizeof all) == 0);
	shmem_free(same);
	CHECK(!shmem_malloc(0));
	CHECK(!shmem_malloc((size_t)1 << 50));
	CHECK(!shmem_calloc((size_t)1 << 40, (size_t)1 << 40));
	many(base);
	for (size_t to = 8; to <= 8 << 20; to *= 2) {
		char *p = shmem_align(to, 100);
		CHECK(p && (uintptr_t)p % to == 0);
		same_offset(base, p);
		shmem_free(p);
	}
	CHECK(!shmem_align(0, 8) && !shmem_align((size_t)1 << 40, 8));
	char *dirty = shmem_malloc(5000);
	memset(dirty, 1, 5000);
	shmem_free(dirty);
	int *zero = shmem_calloc(1000, sizeof *zero);
	for (int i = 0; i < 1000; i++) CHECK(zero[i] == 0);
	for (int i = 0; i < 1000; i++) zero[i] = i * (me + 1);
	int *apart = shmem_malloc(64);
	zero = shmem_realloc(zero, 100000 * sizeof *zero);
	for (int i = 0; i < 1000; i++) CHECK(zero[i] == i * (me + 1));
	same_offset(base, (char *)zero);
	CHECK(shmem_realloc(zero, 16) == zero);
	CHECK(!shmem_realloc(zero, 0));
	CHECK((zero = shmem_realloc(NULL, 8)));
	long *hinted = shmem_malloc_with_hints(sizeof *hinted,
		SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
	*hinted = 0;
	shmem_barrier_all();
	shmem_long_atomic_inc(hinted, right);
	shmem_barrier_all();
	CHECK(*hinted == 1);
	shmem_free(hinted);
	shmem_free(zero);
	shmem_free(apart);
	shmem_free(NULL);
	char *whole = shmem_malloc((size_t)60 << 20); /* all is free again, and one block */
	CHECK(whole);
	shmem_free(whole);
	shmem_free(base);
	return end("heap");
}
