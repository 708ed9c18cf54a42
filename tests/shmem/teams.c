/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams and contexts: numbers, splits, translation, calls on contexts of teams. */
#include "check.h"

static long word, words[64];

static void strided(void)
{
	shmem_team_t odd, back, wrong = SHMEM_TEAM_WORLD;
	shmem_team_config_t config = {.num_contexts = 3}, got = {0};
	if (n > 1) {
		CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, n / 2, &config,
			      SHMEM_TEAM_NUM_CONTEXTS, &odd) == 0);
		CHECK((odd == SHMEM_TEAM_INVALID) == (me % 2 == 0));
		CHECK(shmem_team_my_pe(odd) == (me % 2 ? me / 2 : -1));
		CHECK(shmem_team_n_pes(odd) == (me % 2 ? n / 2 : -1));
		CHECK(shmem_team_translate_pe(odd, 0, SHMEM_TEAM_WORLD) == (me % 2 ? 1 : -1));
		if (me % 2) {
			CHECK(shmem_team_get_config(odd, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0);
			CHECK(got.num_contexts == 3);
			CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, odd) == -1);
			CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, me, odd) == me / 2);
			CHECK(shmem_team_translate_pe(odd, n / 2, SHMEM_TEAM_WORLD) == -1);
		}
		shmem_team_destroy(odd);
	}
	CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &back) == 0);
	CHECK(shmem_team_my_pe(back) == n - 1 - me);
	CHECK(shmem_team_translate_pe(back, 0, SHMEM_TEAM_WORLD) == n - 1);
	shmem_team_destroy(back);
	CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n + 1, NULL, 0, &wrong) != 0);
	CHECK(wrong == SHMEM_TEAM_INVALID);
	CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &wrong) != 0);
	CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, 0, &got) != 0);
	shmem_team_destroy(SHMEM_TEAM_INVALID);
}

static void grid(int xrange)
{
	shmem_team_t x, y;
	CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &x, NULL, 0, &y) == 0);
	int width = xrange < n ? xrange : n, row = me / width, column = me % width;
	CHECK(shmem_team_my_pe(x) == column && shmem_team_my_pe(y) == row);
	CHECK(shmem_team_n_pes(x) == (n - row * width < width ? n - row * width : width));
	CHECK(shmem_team_n_pes(y) == (n - column + width - 1) / width);
	CHECK(shmem_team_translate_pe(x, 0, SHMEM_TEAM_WORLD) == row * width);
	CHECK(shmem_team_translate_pe(y, 0, SHMEM_TEAM_WORLD) == column);
	word = me;
	static long sum;
	shmem_long_sum_reduce(x, &sum, &word, 1);
	long want = 0;
	for (int i = 0; i < shmem_team_n_pes(x); i++) want += row * width + i;
	CHECK(sum == want);
	shmem_team_destroy(x);
	shmem_team_destroy(y);
}

static void contexts(void)
{
	shmem_team_t back, got;
	shmem_ctx_t ctx[4], none = SHMEM_CTX_DEFAULT;
	const long options[4] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, SHMEM_CTX_NOSTORE};
	CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &back) == 0);
	for (int i = 0; i < 4; i++) {
		CHECK(shmem_team_create_ctx(back, options[i], &ctx[i]) == 0);
		CHECK(shmem_ctx_get_team(ctx[i], &got) == 0 && got == back);
	}
	memset(words, 0, sizeof words);
	shmem_barrier_all();
	for (int i = 0; i < 4; i++) {
		long value = 100 * i + me;
		shmem_ctx_long_put_nbi(ctx[i], &words[i], &value, 1, n - 1 - right);
		shmem_ctx_long_atomic_inc(ctx[i], &words[8 + i], n - 1 - right);
		shmem_ctx_fence(ctx[i]);
		shmem_ctx_quiet(ctx[i]);
	}
	shmem_sync_all();
	for (int i = 0; i < 4; i++) CHECK(words[i] == 100 * i + left && words[8 + i] == 1);
	for (int i = 1; i < 4; i++) shmem_ctx_destroy(ctx[i]);
	shmem_team_destroy(back); /* with ctx[0], which threads share */
	CHECK(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &got) == 0 && got == SHMEM_TEAM_WORLD);
	CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &got) != 0 && got == SHMEM_TEAM_INVALID);
	CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &none) != 0);
	CHECK(none == SHMEM_CTX_INVALID);
	shmem_ctx_destroy(SHMEM_CTX_INVALID);
	shmem_ctx_quiet(SHMEM_CTX_INVALID);
	shmem_ctx_fence(SHMEM_CTX_INVALID);
	CHECK(shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &none) == 0);
	CHECK(shmem_ctx_get_team(none, &got) == 0 && got == SHMEM_TEAM_SHARED);
	shmem_ctx_destroy(none);
}

int main(void)
{
	begin();
	for (int i = 0; i < 30; i++) strided(); /* teams are given back */
	grid(1);
	grid(2);
	grid(3);
	grid(100);
	contexts();
	return end("teams");
}
