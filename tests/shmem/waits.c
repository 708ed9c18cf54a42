/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals, waits and tests of every type; locks. */
#include "check.h"
#include <unistd.h>

enum { WORDS = 6 };

#define WAITS(NAME, TYPE) \
	static TYPE NAME##_word[WORDS]; \
	static void test_##NAME(void) \
	{ \
		TYPE *w = NAME##_word, values[WORDS]; \
		int status[WORDS] = {0, 0, 1, 0, 0, 0}, seen[WORDS] = {0}; \
		size_t found[WORDS], count; \
		memset(w, 0, sizeof NAME##_word); \
		for (int i = 0; i < WORDS; i++) values[i] = (TYPE)(i + 1); \
		CHECK(shmem_##NAME##_test(w, SHMEM_CMP_EQ, 0) == 1); \
		CHECK(shmem_##NAME##_test(w, SHMEM_CMP_NE, 0) == 0); \
		CHECK(shmem_##NAME##_test(w, SHMEM_CMP_LT, 1) == 1); \
		CHECK(shmem_##NAME##_test(w, SHMEM_CMP_LE, 0) == 1); \
		CHECK(shmem_##NAME##_test(w, SHMEM_CMP_GT, 0) == 0); \
		CHECK(shmem_##NAME##_test(w, SHMEM_CMP_GE, 0) == 1); \
		CHECK(shmem_##NAME##_test(w, SHMEM_CMP_GT, (TYPE)-1) == ((TYPE)-1 < (TYPE)1)); \
		CHECK(shmem_##NAME##_test_any(w, WORDS, NULL, SHMEM_CMP_NE, 0) == SIZE_MAX); \
		CHECK(shmem_##NAME##_test_some(w, WORDS, found, NULL, SHMEM_CMP_NE, 0) == 0); \
		CHECK(shmem_##NAME##_test_all(w, WORDS, NULL, SHMEM_CMP_EQ, 0) == 1); \
		CHECK(shmem_##NAME##_test_all_vector(w, WORDS, NULL, SHMEM_CMP_EQ, values) == 0); \
		CHECK(shmem_##NAME##_wait_until_any(w, 0, NULL, SHMEM_CMP_EQ, 1) == SIZE_MAX); \
		CHECK(shmem_##NAME##_wait_until_some(w, 0, found, NULL, SHMEM_CMP_EQ, 1) == 0); \
		shmem_barrier_all(); \
		for (int i = 0; i < WORDS; i++) \
			if (i != 2) \
				shmem_##NAME##_p(&w[i], (TYPE)(i + 1), right); \
		shmem_##NAME##_wait_until(&w[0], SHMEM_CMP_NE, 0); \
		for (int left_over = WORDS - 1; left_over > 0; left_over--) { \
			size_t i = shmem_##NAME##_wait_until_any(w, WORDS, status, \
				SHMEM_CMP_GT, 0); \
			CHECK(i < WORDS && i != 2 && !seen[i] && w[i] == (TYPE)(i + 1)); \
			seen[i] = status[i] = 1; \
		} \
		memset(status, 0, sizeof status); \
		status[2] = 1; \
		shmem_##NAME##_wait_until_all(w, WORDS, status, SHMEM_CMP_GE, 1); \
		shmem_##NAME##_wait_until_all_vector(w, WORDS, status, SHMEM_CMP_EQ, values); \
		count = shmem_##NAME##_wait_until_some(w, WORDS, found, status, SHMEM_CMP_LE, 3); \
		CHECK(count == 2 && found[0] < 2 && found[1] < 2 && found[0] != found[1]); \
		count = shmem_##NAME##_wait_until_some_vector(w, WORDS, found, NULL, SHMEM_CMP_EQ, \
			values); \
		CHECK(count == WORDS - 1); \
		count = shmem_##NAME##_test_some_vector(w, WORDS, found, status, SHMEM_CMP_EQ, \
			values); \
		CHECK(count == WORDS - 1); \
		CHECK(shmem_##NAME##_wait_until_any_vector(w, WORDS, NULL, SHMEM_CMP_NE, \
			values) == 2); \
		CHECK(shmem_##NAME##_test_any_vector(w, WORDS, NULL, SHMEM_CMP_NE, values) == 2); \
		shmem_barrier_all(); \
	}
SHMEM_SYNC_TYPES_(WAITS)

/* Words that come while a PE waits: each is found once. */
static void arrivals(void)
{
	static int word[WORDS];
	for (int round = 1; round <= 20; round++) {
		int status[WORDS] = {0};
		size_t found[WORDS], count, all = 0;
		shmem_barrier_all();
		for (int i = 0; i < WORDS; i++) {
			usleep(round % 4 ? 0 : 3000);
			shmem_int_atomic_set(&word[i], round, right);
		}
		while ((count = shmem_int_wait_until_some(word, WORDS, found, status, SHMEM_CMP_EQ,
				round)) > 0) {
			CHECK(count <= WORDS);
			for (size_t k = 0; k < count; k++) {
				CHECK(found[k] < WORDS && !status[found[k]]);
				status[found[k]] = 1;
			}
			all += count;
		}
		CHECK(all == WORDS);
	}
	shmem_barrier_all();
}

static void signals(void)
{
	static uint64_t signal;
	static double to[1000], from[1000];
	for (int round = 1; round <= 20; round++) {
		for (int i = 0; i < 1000; i++) from[i] = round * 1000 + i + me;
		if (round % 2)
			shmem_double_put_signal(to, from, 1000, &signal, 1, SHMEM_SIGNAL_ADD,
				right);
		else
			shmem_double_put_signal_nbi(to, from, 1000, &signal, (uint64_t)round,
				SHMEM_SIGNAL_SET, right);
		CHECK(shmem_signal_wait_until(&signal, SHMEM_CMP_GE, (uint64_t)round) ==
			(uint64_t)round);
		CHECK(shmem_signal_fetch(&signal) == (uint64_t)round);
		for (int i = 0; i < 1000; i++) CHECK(to[i] == round * 1000 + i + left);
		shmem_barrier_all();
	}
	shmem_putmem_signal(to, from, 8, &signal, 99, SHMEM_SIGNAL_SET, right);
	shmem_put64_signal_nbi(to, from, 1, &signal, 1, SHMEM_SIGNAL_ADD, right);
	shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 100);
	shmem_barrier_all();
}

/* The holder alone changes a counter by a get and a put. */
static void locks(void)
{
	enum { ROUNDS = 50, LOCKS = 3 };
	static long lock[LOCKS], counter[LOCKS];
	for (int i = 0; i < ROUNDS * LOCKS; i++) {
		int k = (i + me) % LOCKS;
		if (i % 5)
			shmem_set_lock(&lock[k]);
		else
			while (shmem_test_lock(&lock[k])) {}
		long value = shmem_long_g(&counter[k], n - 1);
		shmem_long_p(&counter[k], value + 1, n - 1);
		shmem_clear_lock(&lock[k]);
	}
	shmem_barrier_all();
	if (me == n - 1)
		for (int k = 0; k < LOCKS; k++) CHECK(counter[k] == ROUNDS * n);
	for (int k = 0; k < LOCKS; k++) CHECK(lock[k] == 0);
}

int main(void)
{
	begin();
#define CALL(NAME, TYPE) test_##NAME();
	SHMEM_SYNC_TYPES_(CALL)
	arrivals();
	signals();
	locks();
	return end("waits");
}
