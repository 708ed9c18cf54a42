// SPDX-License-Identifier: BSD-3-Clause
// victim.c - a job that waits in one-sided communication until a rank of it is killed. Every rank
// writes its process number to a file; fault.sh kills the victim and looks at what becomes of the
// others, which must not end by themselves.
//
//   victim DIRECTORY WAY RANK     lock | fence | target | pscw | wait | around | counter
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGS = 1000 };

static int me, np, victim;
static MPI_Win win;
static long *memory, data[LONGS];

// Tells that the way has been reached.
static void ready(const char *directory)
{
	char name[4096], temporary[4100];
	snprintf(name, sizeof name, "%s/%d", directory, me);
	snprintf(temporary, sizeof temporary, "%s/.%d", directory, me);
	FILE *f = fopen(temporary, "w");
	if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) != 0 ||
		rename(temporary, name) != 0) {
		perror(name);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
}

static void sleep_on(void)
{
	for (int i = 0; i < 60; i++)
		sleep(1);
}

// The victim holds the lock of its neighbour, for which all others wait.
static void lock(void)
{
	int target = (victim + 1) % np;
	if (me == victim) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
		MPI_Put(data, LONGS, MPI_LONG, target, 0, LONGS, MPI_LONG, win);
		MPI_Win_flush(target, win);
		MPI_Barrier(MPI_COMM_WORLD);
		sleep_on();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
}

// The victim never comes to the fence that ends an epoch with transfers to it.
static void fence(void)
{
	MPI_Win_fence(0, win);
	if (me == victim)
		sleep_on();
	MPI_Put(data, LONGS, MPI_LONG, victim, 0, LONGS, MPI_LONG, win);
	MPI_Win_fence(0, win);
}

// All put to the victim, which computes; or all count at it, the victim too.
static void transfers(int count)
{
	long one = 1, old;
	MPI_Win_lock_all(0, win);
	if (me == victim && !count)
		sleep_on();
	for (;;) {
		if (count)
			MPI_Fetch_and_op(&one, &old, MPI_LONG, victim, 0, MPI_SUM, win);
		else
			MPI_Put(data, LONGS, MPI_LONG, victim, 0, LONGS, MPI_LONG, win);
		MPI_Win_flush(victim, win);
	}
}

// The victim never posts, or never completes.
static void pscw(int posted)
{
	MPI_Group world, one;
	MPI_Win_get_group(win, &world);
	MPI_Group_incl(world, 1, &victim, &one);
	if (me == victim && !posted)
		sleep_on();
	if (me == victim) {
		MPI_Group others;
		MPI_Group_excl(world, 1, &victim, &others);
		MPI_Win_start(others, 0, win);
		sleep_on();
	}
	if (posted) {
		MPI_Win_post(one, 0, win);
		MPI_Win_wait(win);
	} else {
		MPI_Win_start(one, 0, win);
		MPI_Put(data, LONGS, MPI_LONG, victim, 0, LONGS, MPI_LONG, win);
		MPI_Win_complete(win);
	}
}

// Epochs of neighbours go around: all wait most of the time, each time a little, so that the ranks
// receive what comes from other nodes themselves when the victim dies.
static void around(void)
{
	MPI_Group world, before, next;
	int last = (me + np - 1) % np, first = (me + 1) % np;
	MPI_Win_get_group(win, &world);
	MPI_Group_incl(world, 1, &last, &before);
	MPI_Group_incl(world, 1, &first, &next);
	for (;;) {
		MPI_Win_post(before, 0, win);
		MPI_Win_start(next, 0, win);
		MPI_Put(data, 1, MPI_LONG, first, 0, 1, MPI_LONG, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	if (argc != 4) {
		fprintf(stderr, "usage: victim DIRECTORY WAY RANK\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	const char *way = argv[2];
	victim = atoi(argv[3]);
	MPI_Win_allocate(sizeof data, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memset(memory, 0, sizeof data);
	MPI_Barrier(MPI_COMM_WORLD);
	ready(argv[1]);
	if (strcmp(way, "lock") == 0)
		lock();
	else if (strcmp(way, "fence") == 0)
		fence();
	else if (strcmp(way, "target") == 0)
		transfers(0);
	else if (strcmp(way, "counter") == 0)
		transfers(1);
	else if (strcmp(way, "around") == 0)
		around();
	else
		pscw(strcmp(way, "wait") == 0);
	sleep_on();
	return 0;
}
