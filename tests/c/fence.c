// SPDX-License-Identifier: BSD-3-Clause
// fence.c - what is visible when: after Fence, AllFence, GroupFence and Barrier, seen by plain
// loads of the target and by other ranks. The order of one origin's own operations is in order.c.
#include "check.h"
#include <sched.h>

enum { N = 2000, ROUNDS = 50 };

struct box {
	double data[N];
	int ready, taken;
};

static int peek(int *word)
{
	return *(volatile int *)word;
}

// Writer: data, fence, ready. Reader: spins on ready by plain loads, then all data must be there.
static void producer_consumer(void **base, int how)
{
	int to = (me + 1) % np, from = (me + np - 1) % np;
	struct box *mine = base[me], *theirs = base[to];
	double *data = check_alloc(sizeof mine->data);
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	mine->ready = mine->taken = 0;
	ARMCI_Barrier();
	for (int round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < N; i++)
			data[i] = round * 1e6 + me * 1e4 + i;
		CHECK_OK(ARMCI_Put(data, theirs->data, sizeof mine->data, to));
		if (how == 0)
			ARMCI_Fence(to);
		else if (how == 1)
			ARMCI_AllFence();
		else
			ARMCI_GroupFence(&world);
		CHECK_OK(ARMCI_PutValueInt(round, &theirs->ready, to));
		while (peek(&mine->ready) < round)
			sched_yield();
		for (int i = 0; i < N; i++)
			CHECK_DBL(mine->data[i], round * 1e6 + from * 1e4 + i);
		CHECK_OK(ARMCI_PutValueInt(round, &((struct box *)base[from])->taken, from));
		while (peek(&mine->taken) < round)
			sched_yield();
	}
	free(data);
	ARMCI_Barrier();
}

// Barrier: every rank writes a part of every other; owner and others see all of it.
static void barrier(void **base)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (int r = 0; r < np; r++) {
			double v = round * 100 + me;
			CHECK_OK(ARMCI_Put(&v, (double *)base[r] + me, sizeof v, r));
		}
		ARMCI_Barrier();
		int look = (me + round) % np;
		for (int r = 0; r < np; r++) {
			CHECK_DBL(((double *)base[me])[r], round * 100 + r);
			CHECK_DBL(ARMCI_GetValueDouble((double *)base[look] + r, look),
				round * 100 + r);
		}
		ARMCI_Barrier();
	}
}

// Accumulates and nonblocking puts are covered by a fence too.
static void every_kind(void **base)
{
	long one = 1, scale = 1, *word = (long *)base[0];
	int at = me + 1;
	memset(base[me], 0, sizeof(struct box));
	ARMCI_Barrier();
	for (int i = 0; i < 100; i++)
		CHECK_OK(ARMCI_Acc(ARMCI_ACC_LNG, &scale, &one, word, sizeof one, 0));
	CHECK_OK(ARMCI_NbPut(&one, word + at, sizeof one, 0, NULL));
	ARMCI_Fence(0);
	CHECK_INT(ARMCI_GetValueLong(word + at, 0), 1);
	armci_msg_barrier(); // no fence of its own is needed any more
	CHECK_INT(ARMCI_GetValueLong(word, 0), 100L * np);
	ARMCI_Barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(sizeof(struct box));
	for (int how = 0; how < 3; how++)
		producer_consumer(base, how);
	barrier(base);
	every_kind(base);
	check_free(base);
	return check_end("fence");
}
