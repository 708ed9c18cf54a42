// SPDX-License-Identifier: BSD-3-Clause
// short.c - puts and gets of a few bytes, which have ways of their own: every length, between
// accumulates, counters and longer transfers to the same words, in the order of the calls; complete
// for others after a fence; by several threads; in memory that is allocated again. Longer ones are
// in contiguous.c and order.c.
#include "check.h"
#include <pthread.h>

enum { LONGEST = 300, WORDS = 64, STEPS = 1500, THREADS = 3 };

static long **base;
static int peer;

// All lengths, at odd addresses too, and nothing beside them changes.
static void lengths(void)
{
	char *far = (char *)base[peer];
	unsigned char want[LONGEST + 4], got[LONGEST + 4], part[LONGEST];
	memset(want, 0xee, sizeof want);
	CHECK_OK(ARMCI_Put(want, far, sizeof want, peer));
	for (int n = 1; n <= LONGEST; n++) {
		int at = n % 3 + 1;
		check_fill(want + at, (size_t)n, (uint64_t)(n + me));
		CHECK_OK(ARMCI_Put(want + at, far + at, n, peer));
		CHECK_OK(ARMCI_Get(far + at, part, n, peer));
		CHECK_MEM(part, want + at, (size_t)n);
		CHECK_OK(ARMCI_Get(far, got, sizeof got, peer));
		CHECK_MEM(got, want, sizeof got);
	}
}

// One word by a random operation; the model is `want`.
static void one(uint64_t *rng, long *far, long *want)
{
	long v = (long)(check_random(rng) >> 20), add = 3, old = -1, extra = 1;
	int pack = sizeof v, wide = 2 * sizeof v, count[2] = {sizeof v, 1};
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	switch (check_between(rng, 0, 9)) {
	case 0:
	case 1: CHECK_OK(ARMCI_Put(&v, far, sizeof v, peer)); break;
	case 2: CHECK_OK(ARMCI_PutValueLong(v, far, peer)); break;
	case 3:
		CHECK_OK(ARMCI_Acc(ARMCI_ACC_LNG, &extra, &add, far, sizeof add, peer));
		*want += add;
		return;
	case 4:
		CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, far, 5, peer));
		CHECK(old == *want);
		*want += 5;
		return;
	case 5: CHECK_OK(ARMCI_PutS(&v, &pack, far, &wide, count, 1, peer)); break;
	case 6:
		CHECK_OK(ARMCI_NbPut(&v, far, sizeof v, peer, &h));
		CHECK_OK(ARMCI_Wait(&h));
		break;
	case 7: ARMCI_Fence(peer); return;
	default:
		CHECK_OK(ARMCI_Get(far, &old, sizeof old, peer));
		CHECK(old == *want);
		CHECK(ARMCI_GetValueLong(far, peer) == *want);
		return;
	}
	*want = v;
}

static void mix(uint64_t seed, long *far, int steps)
{
	long want[WORDS] = {0}, got[WORDS];
	CHECK_OK(ARMCI_Put(want, far, sizeof want, peer));
	for (int i = 0; i < steps; i++) {
		int at = check_between(&seed, 0, 7) ? check_between(&seed, 0, 3) :
						      check_between(&seed, 0, WORDS - 1);
		one(&seed, far + at, &want[at]);
	}
	CHECK_OK(ARMCI_Get(far, got, sizeof got, peer));
	CHECK_MEM(got, want, sizeof got);
}

// Fenced data, of one put and of many, is visible to a rank that is told of it.
static void fenced(void)
{
	for (int round = 1; round <= check_rounds(200); round++) {
		for (int i = 0; i < round % 40 + 1; i++) {
			long v = round * 1000 + i;
			CHECK_OK(ARMCI_Put(&v, base[peer] + i, sizeof v, peer));
		}
		ARMCI_Fence(peer);
		armci_msg_barrier();
		for (int i = 0; i < round % 40 + 1; i++) CHECK(base[me][i] == round * 1000 + i);
		armci_msg_barrier();
	}
}

static void *thread(void *arg)
{
	int id = *(int *)arg;
	mix((uint64_t)(77 + id + me * THREADS), base[peer] + id * WORDS, STEPS / 5);
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];
	int id[THREADS];
	for (int i = 0; i < THREADS; i++) {
		id[i] = i;
		CHECK(pthread_create(&t[i], NULL, thread, &id[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++) CHECK(pthread_join(t[i], NULL) == 0);
}

static void again(void)
{
	for (int i = 1; i <= check_rounds(20); i++) {
		long **b = (long **)check_malloc(sizeof(long) * (size_t)(i * 50)), v = i, got = 0;
		for (int k = 0; k < 3; k++) {
			CHECK_OK(ARMCI_Put(&v, b[peer] + i * 50 - 1, sizeof v, peer));
			CHECK_OK(ARMCI_Get(b[peer] + i * 50 - 1, &got, sizeof got, peer));
			CHECK(got == v++);
		}
		ARMCI_Barrier();
		CHECK(b[me][i * 50 - 1] == v - 1);
		check_free((void **)b);
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	peer = (me + 1) % np;
	base = (long **)check_malloc(sizeof(long) * WORDS * THREADS);
	lengths();
	ARMCI_Barrier();
	mix(4711 + (uint64_t)me, base[peer], STEPS);
	ARMCI_Barrier();
	fenced();
	threads();
	ARMCI_Barrier();
	again();
	check_free((void **)base);
	return check_end("short");
}
