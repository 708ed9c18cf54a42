// SPDX-License-Identifier: BSD-3-Clause
// flag.c - Put_flag and PutS_flag: the flag becomes visible only after the data, to a target that
// polls it by plain loads and makes no library call while it waits.
#include "check.h"
#include <sched.h>

enum { N = 200, ROUNDS = 100 };

struct box {
	double matrix[N][2 * N];
	int flag;
};

static void wait_for(int *flag, int value)
{
	while (*(volatile int *)flag != value)
		sched_yield();
}

// One round: a patch of N x N doubles of the right neighbour, then its flag.
static void send(struct box *theirs, double *patch, int to, int how, int value)
{
	int pack = N * sizeof(double), ld = 2 * N * sizeof(double),
	    count[2] = {N * sizeof(double), N};
	if (how == 0)
		CHECK_OK(
			ARMCI_Put_flag(patch, theirs->matrix, N * N * 8, &theirs->flag, value, to));
	else if (how == 1)
		CHECK_OK(ARMCI_PutS_flag(patch, &pack, theirs->matrix, &ld, count, 1, &theirs->flag,
			value, to));
	else
		CHECK_OK(ARMCI_PutS_flag_dir(patch, &pack, theirs->matrix, &ld, count, 1,
			&theirs->flag, value, to));
}

static void check_patch(const struct box *mine, int how, double value)
{
	double flat[N * N];
	memcpy(flat, mine->matrix, sizeof flat);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double got = how == 0 ? flat[i * N + j] : mine->matrix[i][j];
			CHECK_DBL(got, value + i * N + j);
			if (how != 0)
				CHECK_DBL(mine->matrix[i][N + j], -1);
		}
}

static void run(void **base, int how)
{
	int to = (me + 1) % np, from = (me + np - 1) % np;
	struct box *mine = base[me];
	double patch[N * N];
	for (int i = 0; i < N; i++)
		for (int j = 0; j < 2 * N; j++)
			mine->matrix[i][j] = -1;
	mine->flag = 0;
	ARMCI_Barrier();
	for (int round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < N * N; i++)
			patch[i] = round * 1e5 + me * 1e4 + i;
		send(base[to], patch, to, how, round);
		wait_for(&mine->flag, round);
		check_patch(mine, how, round * 1e5 + from * 1e4);
		armci_msg_barrier();
	}
}

// Without data only the flag is stored.
static void empty(void **base)
{
	struct box *mine = base[me];
	int to = (me + 1) % np;
	mine->flag = 0;
	ARMCI_Barrier();
	CHECK_OK(ARMCI_Put_flag(mine, ((struct box *)base[to])->matrix, 0,
		&((struct box *)base[to])->flag, 7, to));
	wait_for(&mine->flag, 7);
	ARMCI_Barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc(sizeof(struct box));
	for (int how = 0; how < 3; how++)
		run(base, how);
	empty(base);
	check_free(base);
	return check_end("flag");
}
