// SPDX-License-Identifier: BSD-3-Clause
// until.c - ARMCIX_Wait_until and ARMCIX_Wake: words that other ranks store, of this node and of
// others, by puts, accumulates and atomic operations, while the waiter looks or sleeps; limits of
// time; several waiting threads.
#include "check.h"
#include <armcix.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3 };

struct want {
	_Atomic long *word;
	long least;
	int met; // how often a look has found that
};

static int reached(void *arg)
{
	struct want *w = arg;
	int enough = atomic_load(w->word) >= w->least;
	w->met += enough;
	return enough;
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

// Raises a word of rank proc to n in one of several ways.
static void raise_word(long *word, long n, int proc, int way)
{
	static const long one = 1;
	long before;
	switch (way) {
	case 0: CHECK_OK(ARMCI_Put(&n, word, sizeof n, proc)); break;
	case 1: CHECK_OK(ARMCI_Acc(ARMCI_ACC_LNG, (void *)&one, (void *)&one, word, sizeof one,
			proc)); break;
	case 2: CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, word, 1, proc)); break;
	case 3: CHECK_OK(ARMCIX_Atomic(ARMCIX_ADD, 8, NULL, word, &one, NULL, proc)); break;
	default: CHECK_OK(ARMCI_PutValueLong(n, word, proc)); break;
	}
	CHECK_OK(ARMCIX_Wake(proc));
}

// A token goes round, as a word that each rank waits for. Now and then it is late, so that waiters
// sleep.
static void ring(void **base)
{
	int next = (me + 1) % np, rounds = check_rounds(200);
	for (int i = 0; i < rounds; i++) {
		struct want w = {base[me], i + 1, 0};
		if (me != 0)
			CHECK_INT(ARMCIX_Wait_until(reached, &w, -1), 0);
		else if (i % 50 == 7)
			usleep(20000);
		raise_word(base[next], i + 1, next, i % 5);
		if (me == 0)
			CHECK_INT(ARMCIX_Wait_until(reached, &w, -1), 0);
		CHECK_INT(atomic_load(w.word), i + 1);
		CHECK_INT(w.met, 1);
		armci_msg_barrier();
	}
	ARMCI_Barrier();
}

// Waiters that have slept for long are woken by what comes.
static void late(void **base)
{
	for (int i = 0; i < 3; i++) {
		struct want w = {(_Atomic long *)base[me] + 1 + i, 1, 0};
		armci_msg_barrier();
		if (me == 0) {
			usleep(300000);
			for (int p = 1; p < np; p++) raise_word((long *)base[p] + 1 + i, 1, p, i);
		} else {
			CHECK_INT(ARMCIX_Wait_until(reached, &w, -1), 0);
		}
	}
	ARMCI_Barrier();
}

static void limits(void **base)
{
	struct want w = {(_Atomic long *)base[me] + 7, 1, 0};
	double began = seconds();
	CHECK_INT(ARMCIX_Wait_until(reached, &w, 0), 1);
	CHECK_INT(ARMCIX_Wait_until(reached, &w, 30), 1);
	double took = seconds() - began;
	CHECK(took >= 0.029);
	atomic_store(w.word, 1);
	CHECK_INT(ARMCIX_Wait_until(reached, &w, 0), 0);
	CHECK_INT(ARMCIX_Wait_until(reached, &w, -1), 0);
}

static void *wait_for_word(void *arg)
{
	return ARMCIX_Wait_until(reached, arg, -1) == 0 ? arg : NULL;
}

// Threads of a rank wait for words of their own; the rank before raises them in turn.
static void threads(void **base)
{
	enum { FIRST = 16 };
	pthread_t thread[THREADS];
	struct want w[THREADS];
	int next = (me + 1) % np;
	void *result;
	for (int t = 0; t < THREADS; t++) {
		w[t] = (struct want){(_Atomic long *)base[me] + FIRST + t, 1, 0};
		CHECK_INT(pthread_create(&thread[t], NULL, wait_for_word, &w[t]), 0);
	}
	for (int t = THREADS - 1; t >= 0; t--) {
		usleep(5000);
		raise_word((long *)base[next] + FIRST + t, 1, next, t);
	}
	for (int t = 0; t < THREADS; t++) {
		CHECK_INT(pthread_join(thread[t], &result), 0);
		CHECK(result == &w[t]);
	}
	ARMCI_Barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(64 * sizeof(long));
	memset(base[me], 0, 64 * sizeof(long));
	ARMCI_Barrier();
	ring(base);
	late(base);
	limits(base);
	threads(base);
	check_free(base);
	return check_end("until");
}
