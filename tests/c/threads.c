// SPDX-License-Identifier: BSD-3-Clause
// threads.c - four threads per rank at once: transfers to private slabs, shared accumulates,
// counters and locks; every result is checked. Collective calls stay on the main thread.
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, N = 512, ROUNDS = 300 };

// What each rank hosts.
struct region {
	long counter, guarded, own[THREADS];
	double sum[N];
	double slab[]; // one of N doubles per rank and thread
};

static void **base;

static struct region *at(int r)
{
	return base[r];
}

struct work {
	int id;
	uint64_t rng;
	double source[N], target[N];
};

// Put, get and strided put and get in a slab that no other thread writes.
static void private_slab(struct work *w, int peer, int round)
{
	double *slab = at(peer)->slab + (size_t)(me * THREADS + w->id) * N;
	int pack = 8, wide = 16, count[2] = {8, N / 2};
	armci_hdl_t h;
	for (int i = 0; i < N; i++)
		w->source[i] = round * 1e4 + w->id * 1e3 + i;
	if (round % 3 == 0) {
		CHECK_OK(ARMCI_Put(w->source, slab, sizeof w->source, peer));
		CHECK_OK(ARMCI_Get(slab, w->target, sizeof w->target, peer));
	} else if (round % 3 == 1) {
		ARMCI_INIT_HANDLE(&h);
		CHECK_OK(ARMCI_NbPut(w->source, slab, sizeof w->source, peer, &h));
		CHECK_OK(ARMCI_Wait(&h));
		CHECK_OK(ARMCI_NbGet(slab, w->target, sizeof w->target, peer, &h));
		CHECK_OK(ARMCI_Wait(&h));
	} else { // even elements, then odd ones
		for (int k = 0; k < 2; k++)
			CHECK_OK(ARMCI_PutS(w->source + k * N / 2, &pack, slab + k, &wide, count, 1,
				peer));
		for (int k = 0; k < 2; k++)
			CHECK_OK(ARMCI_GetS(slab + k, &wide, w->target + k * N / 2, &pack, count, 1,
				peer));
	}
	CHECK_MEM(w->target, w->source, sizeof w->source);
}

static void shared(struct work *w, int peer)
{
	double one = 1, ones[N];
	long old;
	for (int i = 0; i < N; i++)
		ones[i] = 1;
	CHECK_OK(ARMCI_Acc(ARMCI_ACC_DBL, &one, ones, at(0)->sum, sizeof ones, 0));
	CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, &at(0)->counter, 1, 0));
	CHECK(old >= 0);
	ARMCI_Lock(0, 0); // contended by all threads of all ranks
	long v = ARMCI_GetValueLong(&at(0)->guarded, 0);
	CHECK_OK(ARMCI_PutValueLong(v + 1, &at(0)->guarded, 0));
	ARMCI_Unlock(0, 0);
	ARMCI_Lock(1 + w->id, peer); // contended by the same thread of the other ranks
	v = ARMCI_GetValueLong(&at(peer)->own[w->id], peer);
	CHECK_OK(ARMCI_PutValueLong(v + 1, &at(peer)->own[w->id], peer));
	ARMCI_Unlock(1 + w->id, peer);
}

// A message to the thread of the same number of the right neighbour, kept apart by tag.
static void message(struct work *w, int round)
{
	int value = round * 100 + w->id, from = (me + np - 1) % np, got;
	armci_msg_snd(50 + w->id, &value, sizeof value, (me + 1) % np);
	armci_msg_rcv(50 + w->id, &value, sizeof value, &got, from);
	CHECK_INT(value, round * 100 + w->id);
}

static void *run(void *arg)
{
	struct work *w = arg;
	for (int round = 0; round < ROUNDS; round++) {
		int peer = check_between(&w->rng, 0, np - 1);
		private_slab(w, peer, round);
		shared(w, peer);
		if (round % 10 == 0)
			message(w, round);
		if (round % 7 == 0)
			ARMCI_Fence(peer);
		if (round % 31 == 0)
			ARMCI_AllFence();
		CHECK_OK(ARMCI_WaitAll());
		void *p = ARMCI_Malloc_local(100);
		CHECK(p != NULL);
		CHECK_OK(ARMCI_Free_local(p));
	}
	return NULL;
}

static void totals(void)
{
	long own = 0, want = (long)ROUNDS * THREADS * np;
	for (int t = 0; t < THREADS; t++)
		own += at(me)->own[t];
	armci_msg_lgop(&own, 1, "+");
	CHECK_INT(own, want);
	if (me != 0)
		return;
	CHECK_INT(at(0)->counter, want);
	CHECK_INT(at(0)->guarded, want);
	for (int i = 0; i < N; i++)
		CHECK_DBL(at(0)->sum[i], (double)want);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	size_t size = sizeof(struct region) + sizeof(double) * N * THREADS * (size_t)np;
	base = check_malloc((armci_size_t)size);
	memset(base[me], 0, size);
	CHECK_OK(ARMCI_Create_mutexes(1 + THREADS));
	ARMCI_Barrier();
	pthread_t thread[THREADS];
	static struct work work[THREADS];
	for (int t = 0; t < THREADS; t++) {
		work[t] = (struct work){.id = t, .rng = (uint64_t)(me * THREADS + t)};
		CHECK_OK(pthread_create(&thread[t], NULL, run, &work[t]));
	}
	for (int t = 0; t < THREADS; t++)
		CHECK_OK(pthread_join(thread[t], NULL));
	ARMCI_Barrier();
	totals();
	CHECK_OK(ARMCI_Destroy_mutexes());
	check_free(base);
	return check_end("threads");
}
