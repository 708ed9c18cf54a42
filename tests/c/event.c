// SPDX-License-Identifier: BSD-3-Clause
// event.c - ARMCIX_Event_add and ARMCIX_Event_wait: data behind an event is visible, no raise is
// lost, waits with a limit of time end in time, many threads wait and many ranks raise.
#include "check.h"
#include <armcix.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { WAITERS = 3, EVENTS = 64, DATA = 4096 };

static unsigned count_of(armcix_event_t *e) { return atomic_load((_Atomic unsigned *)&e->count); }

// Waits until the count is at least n, and lowers it by that.
static void consume(armcix_event_t *e, unsigned n)
{
	for (unsigned now; (now = count_of(e)) < n;)
		CHECK_OK(ARMCIX_Event_wait(e, now, -1));
	atomic_fetch_sub((_Atomic unsigned *)&e->count, n);
}

// A token goes round: data of several forms is there before the event. Now and then it is late, so
// that waiters sleep.
static void ring(void **base)
{
	int next = (me + 1) % np;
	armcix_event_t *mine = base[me], *theirs = base[next];
	char *there = (char *)base[next] + EVENTS * sizeof *mine,
	     *here = (char *)base[me] + EVENTS * sizeof *mine;
	for (int i = 0; i < check_rounds(200); i++) {
		long data[32], one = 1, total;
		for (int k = 0; k < 32; k++) data[k] = 1000L * i + k;
		if (me != 0)
			consume(mine, 1);
		else if (i % 50 == 7)
			usleep(20000);
		if (me != 0 || i > 0) {
			memcpy(&total, here + 512, sizeof total);
			CHECK_INT(total, me ? i + 1 : i);
		}
		CHECK_OK(ARMCI_Put(data, there, sizeof data, next));
		CHECK_OK(ARMCI_NbPut(data, there + sizeof data, 8, next, NULL));
		CHECK_OK(ARMCIX_Atomic(ARMCIX_ADD, 8, NULL, there + 512, &one, NULL, next));
		CHECK_OK(ARMCI_WaitAll());
		CHECK_OK(ARMCIX_Event_add(theirs, 1, next));
		if (me == 0)
			consume(mine, 1);
		CHECK_MEM(here, data, sizeof data);
		CHECK_MEM(here + sizeof data, data, 8);
		armci_msg_barrier();
	}
	ARMCI_Barrier();
}

// A token goes round as events that one rank alone raises; each is ahead of its record by no more
// than the put behind it.
static void raised(void **base)
{
	enum { EVENT = 4, RECORD = 5 };
	int next = (me + 1) % np, prev = (me + np - 1) % np;
	armcix_event_t *mine = (armcix_event_t *)base[me], *theirs = (armcix_event_t *)base[next];
	long *there = (long *)((char *)base[next] + EVENTS * sizeof *mine),
	     *here = (long *)((char *)base[me] + EVENTS * sizeof *mine);
	unsigned first = mine[EVENT].count = mine[RECORD].count = (unsigned)-check_rounds(200) / 2;
	ARMCI_Barrier();
	CHECK_INT(ARMCIX_Event_await(&mine[EVENT], (armcix_event_t *)base[prev] + RECORD, first, 0,
			  prev),
		1);
	CHECK_INT(ARMCIX_Event_await(&mine[EVENT], (armcix_event_t *)base[prev] + RECORD, first, 30,
			  prev),
		1);
	ARMCI_Barrier();
	for (int i = 0; i < check_rounds(200); i++) {
		long value = 7000L + i;
		if (me == 0 && i % 50 == 7)
			usleep(20000);
		for (int turn = 0; turn < 2; turn++) {
			if ((me == 0) == (turn == 0)) {
				CHECK_OK(ARMCI_Put(&value, there, sizeof value, next));
				CHECK_OK(ARMCIX_Event_raise(&theirs[EVENT], &mine[RECORD], next));
			} else {
				CHECK_OK(ARMCIX_Event_await(&mine[EVENT],
					(armcix_event_t *)base[prev] + RECORD, first + (unsigned)i,
					-1, prev));
				CHECK_INT(count_of(&mine[EVENT]), first + (unsigned)i + 1);
				CHECK_INT(*here, value);
			}
		}
	}
	ARMCI_Barrier();
}

// All raise an event of each rank, by different amounts; none is lost.
static void crowd(void **base)
{
	armcix_event_t *mine = (armcix_event_t *)base[me] + 1;
	int rounds = check_rounds(300);
	for (int i = 0; i < rounds; i++) {
		int to = (me + i) % np;
		CHECK_OK(ARMCIX_Event_add((armcix_event_t *)base[to] + 1, (unsigned)(1 + i % 3),
			to));
	}
	ARMCI_Barrier();
	unsigned want = 0;
	for (int r = 0; r < np; r++)
		for (int i = 0; i < rounds; i++)
			want += (r + i) % np == me ? (unsigned)(1 + i % 3) : 0;
	CHECK_INT(count_of(mine), want);
	ARMCI_Barrier();
}

// Several threads of every rank of the node sleep on one event of its first rank; one addition
// wakes them all.
static armcix_event_t *common;

static void *sleeper(void *unused)
{
	(void)unused;
	CHECK_OK(ARMCIX_Event_wait(common, 0, -1));
	CHECK_INT(count_of(common), 5);
	return NULL;
}

static void together(void **base)
{
	pthread_t t[WAITERS];
	int first = 0;
	while (!ARMCI_Same_node(first))
		first++;
	common = (armcix_event_t *)base[first] + 2;
	for (int i = 0; i < WAITERS; i++)
		CHECK_OK(pthread_create(&t[i], NULL, sleeper, NULL));
	int *is_first = check_alloc(sizeof(int) * (size_t)np);
	memset(is_first, 0, sizeof(int) * (size_t)np);
	is_first[first] = 1;
	armci_msg_igop(is_first, np, "or");
	usleep(20000);
	for (int r = 0; me == 0 && r < np; r++)
		if (is_first[r])
			CHECK_OK(ARMCIX_Event_add((armcix_event_t *)base[r] + 2, 5, r));
	free(is_first);
	for (int i = 0; i < WAITERS; i++)
		CHECK_OK(pthread_join(t[i], NULL));
	ARMCI_Barrier();
}

static void limits(void **base)
{
	armcix_event_t *e = (armcix_event_t *)base[me] + 3;
	CHECK_INT(ARMCIX_Event_wait(e, 0, 0), 1);
	CHECK_OK(ARMCIX_Event_wait(e, 7, 0));
	static const int millis[] = {1, 30, 1200};
	for (int i = 0; i < (me == 0 ? 3 : 2); i++) {
		double began = armci_timer();
		CHECK_INT(ARMCIX_Event_wait(e, 0, millis[i]), 1);
		double took = armci_timer() - began;
		CHECK(took >= 1e-3 * millis[i] && took < 20);
	}
	CHECK_INT(e->sleepers, 0);
	armci_msg_barrier();
	CHECK_OK(ARMCIX_Event_add((armcix_event_t *)base[(me + 1) % np] + 3, 1, (me + 1) % np));
	if (count_of(e) == 0)
		CHECK_OK(ARMCIX_Event_wait(e, 0, 60000));
	CHECK_INT(count_of(e), 1);
	ARMCI_Barrier();
}

// In ARMCI_Memget memory, at an odd multiple of 4.
static void of_one(void)
{
	armci_meminfo_t info;
	if (me == 0) {
		ARMCI_Memget(64, &info, 0);
		memset(info.addr, 0, 64);
	}
	armci_msg_bcast(&info, sizeof info, 0);
	armcix_event_t *e = (armcix_event_t *)((char *)info.armci_addr + 4);
	for (int i = 0; i < check_rounds(50); i++)
		CHECK_OK(ARMCIX_Event_add(e, 1, 0));
	if (me == 0) {
		consume(e, (unsigned)(np * check_rounds(50)));
		CHECK_INT(count_of(e), 0);
	}
	ARMCI_Barrier();
	if (me == 0)
		ARMCI_Memctl(&info);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(EVENTS * sizeof(armcix_event_t) + DATA);
	memset(base[me], 0, EVENTS * sizeof(armcix_event_t) + DATA);
	ARMCI_Barrier();
	ring(base);
	raised(base);
	crowd(base);
	together(base);
	limits(base);
	of_one();
	check_free(base);
	return check_end("event");
}
