// SPDX-License-Identifier: BSD-3-Clause
// visited.c - a job that strangers visit: every rank puts into the memory of all others, which look
// at what has come, round after round for a while. The exit status is the verdict.
//
//   visited MILLISECONDS
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS = 4096 };

static int me, np;

static void die(const char *what)
{
	fprintf(stderr, "visited: %s\n", what);
	ARMCI_Error(what, 1);
}

static double milliseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static long word(int from, int to, int round, int i)
{
	return ((long)from * 64 + to) * 1000003L + round * 8191L + i;
}

// Rank r's words are in part r of each rank's memory.
static void exchange(void **base, long *mine, int round)
{
	int n = round % 2 ? WORDS : 8;
	for (int to = 0; to < np; to++) {
		for (int i = 0; i < n; i++)
			mine[i] = word(me, to, round, i);
		if (ARMCI_Put(mine, (long *)base[to] + (long)me * WORDS, n * (int)sizeof *mine, to))
			die("ARMCI_Put failed");
	}
	ARMCI_AllFence();
	ARMCI_Barrier();
	for (int from = 0; from < np; from++)
		for (int i = 0; i < n; i++)
			if (((long *)base[me])[(long)from * WORDS + i] != word(from, me, round, i))
				die("wrong words have come");
	int to = (me + round) % np;
	if (ARMCI_Get((long *)base[to] + (long)me * WORDS, mine, n * (int)sizeof *mine, to))
		die("ARMCI_Get failed");
	for (int i = 0; i < n; i++)
		if (mine[i] != word(me, to, round, i))
			die("wrong words were got");
	ARMCI_Barrier();
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	if (argc != 2 || ARMCI_Init())
		die("ARMCI_Init failed");
	me = armci_msg_me();
	np = armci_msg_nproc();
	void **base = malloc((size_t)np * sizeof *base);
	long *mine = calloc(WORDS, sizeof *mine);
	if (!base || !mine || ARMCI_Malloc(base, np * WORDS * (long)sizeof *mine))
		die("ARMCI_Malloc failed");
	double end = milliseconds() + atof(argv[1]);
	int more = 1;
	for (int round = 0; more; round++) {
		exchange(base, mine, round);
		more = milliseconds() < end;
		armci_msg_igop(&more, 1, "min");
	}
	ARMCI_Free(base[me]);
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
