// SPDX-License-Identifier: BSD-3-Clause
// coalesce.c - many small nonblocking puts and gets to one rank, which between nodes travel
// together: with a handle each, one for all or none, of equal and other sizes, waited for in any
// order, among other calls, by several threads, and complete while the caller computes.
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { N = 3000, THREADS = 2, SLOT = N / THREADS };

// Each rank hosts this; others write into their own block of it.
struct block {
	_Atomic long flag;
	long word[N];
};

static void **base;
static long source[N], target[N];
static armci_hdl_t hdl[N];

static struct block *at(int r, int of) { return (struct block *)base[r] + of; }

// Word i of the caller's block at a rank.
static long *word(int r, int i) { return &at(r, me)->word[i]; }

static void fill(int salt)
{
	for (int i = 0; i < N; i++) {
		source[i] = (long)salt << 40 | (long)me << 32 | i;
		target[i] = -1;
		ARMCI_INIT_HANDLE(&hdl[i]);
	}
}

// Which handle operation i gets: its own, one for all, one of seven, none.
static armci_hdl_t *handle(int way, int i)
{
	return way == 0 ? &hdl[i] : way == 1 ? &hdl[0] : way == 2 ? &hdl[i % 7] : NULL;
}

// A handle for every second operation.
static armci_hdl_t *some(int i) { return i % 2 ? &hdl[i] : NULL; }

// Waits for all, in an order that depends on way.
static void complete(int way, int peer)
{
	for (int i = 0; i < N; i++) {
		armci_hdl_t *h = handle(way, way == 0 ? N - 1 - i : i);
		if (h && i % 3 == 0)
			while (ARMCI_Test(h) != 0)
				continue;
		else if (h)
			CHECK_OK(ARMCI_Wait(h));
	}
	if (way == 3)
		CHECK_OK(peer % 2 ? ARMCI_WaitProc(peer) : ARMCI_WaitAll());
}

static void many(int way, int peer)
{
	fill(way + 1);
	for (int i = 0; i < N; i++)
		CHECK_OK(ARMCI_NbPut(&source[i], word(peer, i * 7 % N), 8, peer, handle(way, i)));
	complete(way, peer);
	for (int i = 0; i < N; i++)
		CHECK_OK(ARMCI_NbGet(word(peer, i * 7 % N), &target[i], 8, peer, handle(way, i)));
	complete(way, peer);
	CHECK_MEM(target, source, sizeof source);
}

// Rows of several sizes, some too long to be collected, and waits in between.
static void rows(int peer)
{
	char *there = (char *)at(peer, me)->word, *from = (char *)source, *to = (char *)target;
	fill(5);
	for (int k = 0, left = sizeof source, n; left > 0; left -= n, k++) {
		n = k % 11 == 10 ? 2056 : 8 + 8 * (k % 5);
		n = n < left ? n : left;
		CHECK_OK(ARMCI_NbPut(from + left - n, there + left - n, n, peer, &hdl[k]));
		if (k % 50 == 49)
			CHECK_OK(ARMCI_Wait(&hdl[k - 25]));
	}
	ARMCI_Fence(peer); // no wait
	for (int k = 0, left = sizeof source, n; left > 0; left -= n, k++) {
		n = k % 13 == 12 ? 2056 : 8 + 8 * (k % 5);
		n = n < left ? n : left;
		CHECK_OK(ARMCI_NbGet(there + left - n, to + left - n, n, peer, &hdl[k]));
	}
	for (int k = 0; k < N; k++)
		CHECK_OK(ARMCI_Wait(&hdl[k]));
	CHECK_MEM(target, source, sizeof source);
}

// Puts, accumulates, gets and atomic operations, each complete before the next one begins.
static void mixed(int peer)
{
	long one = 1, *there = at(peer, me)->word;
	fill(6);
	for (int i = 0; i < 200; i++) {
		for (int k = 0; k < 5; k++)
			CHECK_OK(ARMCI_NbPut(&source[5 * i + k], &there[5 * i + k], 8, peer,
				k % 2 ? NULL : &hdl[k]));
		if (i % 4 == 0)
			ARMCI_Fence(peer);
		for (int k = 0; i % 4 == 1 && k < 5; k++)
			CHECK_OK(ARMCI_Wait(&hdl[k]));
		CHECK_OK(ARMCI_WaitProc(peer));
		for (int k = 0; k < 5; k += 2)
			CHECK_OK(ARMCI_Wait(&hdl[k]));
		CHECK_OK(ARMCI_Acc(ARMCI_ACC_LNG, &one, &one, &there[5 * i], 8, peer));
		for (int k = 0; k < 5; k++)
			CHECK_OK(ARMCI_NbGet(&there[5 * i + k], &target[5 * i + k], 8, peer, hdl));
		CHECK_OK(ARMCI_Put(&one, &there[5 * i + 1], 8, peer)); // the gets may see it
		CHECK_OK(ARMCI_Wait(hdl));
		for (int k = 0; k < 5; k++)
			if (k != 1)
				CHECK_INT(target[5 * i + k], source[5 * i + k] + (k == 0));
	}
}

// What was put is visible to a rank that is notified, whether it was waited for or not.
static void notified(int peer)
{
	int count;
	fill(7);
	for (int i = 0; i < 100; i++)
		CHECK_OK(ARMCI_NbPut(&source[i], word(peer, i), 8, peer, some(i)));
	armci_notify(peer);
	armci_notify_wait(peer, &count);
	for (int i = 0; i < 100; i++)
		CHECK_INT(at(me, peer)->word[i], (long)7 << 40 | (long)peer << 32 | i);
	for (int i = 0; i < 100; i++)
		CHECK_OK(ARMCI_Wait(&hdl[i]));
	CHECK_OK(ARMCI_WaitAll());
}

// Everything arrives while the caller is in no call of the library; in the memory of a get, where a
// device can store there: else it may be copied there by the wait.
static void computing(int peer)
{
	long *got = ARMCI_Malloc_local(50 * sizeof *got);
	for (int round = 0; round < 10; round++) {
		ARMCI_Barrier();
		fill(10 + round);
		_Atomic long *flag = &at(me, peer)->flag;
		atomic_store(flag, 0);
		ARMCI_Barrier();
		long told = round + 1;
		for (int i = 0; i < 50; i++)
			CHECK_OK(ARMCI_NbPut(&source[i], word(peer, i), 8, peer, some(i)));
		CHECK_OK(ARMCI_NbPut(&told, &at(peer, me)->flag, 8, peer, &hdl[50]));
		while (atomic_load(flag) != told) // the peer's
			sched_yield();
		ARMCI_Barrier();
		for (int i = 0; i < 50; i++)
			got[i] = -1;
		for (int i = 0; i < 50; i++)
			CHECK_OK(ARMCI_NbGet(word(peer, i), &got[i], 8, peer, some(i)));
		for (int i = 0; i < 50; i++)
			while (atomic_load((_Atomic long *)&got[i]) == -1)
				sched_yield();
		for (int i = 0; i <= 50; i++)
			CHECK_OK(ARMCI_Wait(&hdl[i]));
		CHECK_OK(ARMCI_WaitAll());
		CHECK_MEM(got, source, 50 * sizeof(long));
	}
	ARMCI_Free_local(got);
}

// A part of the words is a thread's own.
static void *thread(void *arg)
{
	int peer = np - 1 - me, first = *(int *)arg * SLOT;
	long *there = word(peer, first), *from = source + first, *to = target + first;
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 100; i++)
			CHECK_OK(ARMCI_NbPut(&from[i], &there[i], 8, peer, &hdl[first + i]));
		for (int i = 0; i < 100; i++)
			CHECK_OK(ARMCI_Wait(&hdl[first + 99 - i]));
		memset(to, 0xff, 100 * sizeof *to);
		for (int i = 0; i < 100; i++)
			CHECK_OK(ARMCI_NbGet(&there[i], &to[i], 8, peer,
				round % 2 ? &hdl[first + i] : NULL));
		for (int i = 0; round % 2 && i < 100; i++)
			CHECK_OK(ARMCI_Wait(&hdl[first + i]));
		CHECK_OK(ARMCI_WaitProc(peer));
		CHECK_MEM(to, from, 100 * sizeof *to);
		for (int i = 0; i < 100; i++)
			from[i] += THREADS;
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];
	int id[THREADS];
	fill(8);
	for (int i = 0; i < THREADS; i++) {
		id[i] = i;
		CHECK_OK(pthread_create(&t[i], NULL, thread, &id[i]));
	}
	for (int i = 0; i < THREADS; i++)
		CHECK_OK(pthread_join(t[i], NULL));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	base = check_malloc(sizeof(struct block) * (size_t)np);
	int peer = np - 1 - me; // on another node, where there are several
	for (int way = 0; way < 4; way++)
		many(way, peer);
	rows(peer);
	mixed(peer);
	ARMCI_Barrier();
	notified(peer);
	computing(peer);
	threads();
	ARMCI_Barrier();
	check_free(base);
	return check_end("coalesce");
}
