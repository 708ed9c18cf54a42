// SPDX-License-Identifier: BSD-3-Clause
// windows.c - a known number of operations of each kind on windows of MPI, from every rank to the
// next one, whose counts run.sh compares. With an argument an operation of rank 1 is outside the
// window, which ends the job.
#include <mpi.h>
#include <stdlib.h>

#define TIMES 10
static int me, np, to;
static long local[64], result[64], one = 1;
static MPI_Win win;

// Half of a vector's longs: 16 of 32.
static MPI_Datatype strided(void)
{
	MPI_Datatype type;
	MPI_Type_vector(16, 1, 2, MPI_LONG, &type);
	MPI_Type_commit(&type);
	return type;
}

static void requests(void)
{
	MPI_Request request[4];
	MPI_Rput(local, 3, MPI_LONG, to, 8, 3, MPI_LONG, win, &request[0]);
	MPI_Rget(local + 8, 3, MPI_LONG, to, 8, 3, MPI_LONG, win, &request[1]);
	MPI_Raccumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win, &request[2]);
	MPI_Rget_accumulate(&one, 1, MPI_LONG, result, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM,
		win, &request[3]);
	for (int i = 0; i < 4; i++) MPI_Wait(&request[i], MPI_STATUS_IGNORE);
}

static void operations(MPI_Datatype type)
{
	MPI_Put(local, 1, MPI_LONG, to, 0, 1, MPI_LONG, win);
	MPI_Put(local, 64, MPI_LONG, to, 0, 64, MPI_LONG, win);
	MPI_Put(local, 16, MPI_LONG, to, 0, 1, type, win);
	MPI_Put(local, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win);
	MPI_Get(local, 2, MPI_LONG, to, 0, 2, MPI_LONG, win);
	MPI_Accumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win);
	MPI_Get_accumulate(NULL, 0, MPI_LONG, result, 4, MPI_LONG, to, 0, 4, MPI_LONG, MPI_NO_OP,
		win);
	MPI_Fetch_and_op(&one, result, MPI_LONG, to, 0, MPI_SUM, win);
	MPI_Compare_and_swap(&one, &one, result, MPI_LONG, to, 0, win);
	requests();
}

static void passive(void)
{
	MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
	MPI_Put(local, 1, MPI_LONG, to, 0, 1, MPI_LONG, win);
	MPI_Win_flush(to, win);
	MPI_Win_flush_local(to, win);
	MPI_Win_unlock(to, win);
	MPI_Win_lock_all(0, win);
	MPI_Win_flush_all(win);
	MPI_Win_flush_local_all(win);
	MPI_Win_sync(win);
	MPI_Win_unlock_all(win);
}

static void active(MPI_Group right, MPI_Group left)
{
	MPI_Win_post(left, 0, win);
	MPI_Win_start(right, 0, win);
	MPI_Win_complete(win);
	MPI_Win_wait(win);
}

static MPI_Group group_of(int rank)
{
	MPI_Group all, group;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &rank, &group);
	MPI_Group_free(&all);
	return group;
}

int main(int argc, char **argv)
{
	long *memory;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	to = (me + 1) % np;
	MPI_Group right = group_of(to), left = group_of((me + np - 1) % np);
	MPI_Datatype type = strided();
	MPI_Win_allocate(1024, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	for (int i = 0; i < TIMES; i++) {
		MPI_Win_fence(0, win);
		operations(type);
		MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
		active(right, left);
		passive();
	}
	if (argc > 1 && me == 1) {
		MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
		MPI_Put(local, 1, MPI_LONG, to, 1 << 20, 1, MPI_LONG, win);
	}
	MPI_Win_free(&win);
	MPI_Type_free(&type);
	MPI_Group_free(&right);
	MPI_Group_free(&left);
	MPI_Finalize();
	return 0;
}
