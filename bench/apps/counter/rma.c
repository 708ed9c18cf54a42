// SPDX-License-Identifier: BSD-3-Clause
// The pool by MPI's one-sided communication: MPI_Fetch_and_op takes the next task, MPI_Accumulate
// adds the result at its owner.
#include <string.h>

#include "counter.h"

static long next(MPI_Win count)
{
	long one = 1, task;
	app_comm_begin();
	MPI_Fetch_and_op(&one, &task, MPI_LONG, 0, 0, MPI_SUM, count);
	MPI_Win_flush(0, count);
	app_comm_end();
	return task;
}

enum { SUMS, COUNT };

static const size_t bytes[] = {SEGMENTS * LENGTH * sizeof(double), sizeof(long)};

void windows_begin(struct pool *p)
{
	for (int i = 0; i < 2; i++) {
		MPI_Win_allocate((MPI_Aint)bytes[i], 1, MPI_INFO_NULL, MPI_COMM_WORLD,
			&p->window_mine[i], &p->window[i]);
		MPI_Win_lock_all(MPI_MODE_NOCHECK, p->window[i]);
	}
}

void windows_clear(struct pool *p)
{
	for (int i = 0; i < 2; i++) {
		memset(p->window_mine[i], 0, bytes[i]);
		MPI_Win_sync(p->window[i]);
	}
}

void windows_end(struct pool *p)
{
	for (int i = 0; i < 2; i++) {
		MPI_Win_unlock_all(p->window[i]);
		MPI_Win_free(&p->window[i]);
	}
}

void pool_mpi_rma(struct pool *p)
{
	static double results[2][LENGTH]; // one is under way
	int owners[2] = {0, 0};
	MPI_Win sums = p->window[SUMS];
	long task;
	for (int turn = 0; (task = next(p->window[COUNT])) < p->tasks; turn = 1 - turn) {
		APP_COMM(MPI_Win_flush_local(owners[turn], sums));
		task_do(p, task, results[turn]);
		owners[turn] = owner_of(task);
		APP_COMM(MPI_Accumulate(results[turn], LENGTH, MPI_DOUBLE, owners[turn],
			(MPI_Aint)((size_t)segment_of(task) * LENGTH * sizeof(double)), LENGTH,
			MPI_DOUBLE, MPI_SUM, sums));
	}
	app_comm_begin();
	MPI_Win_flush_all(sums);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(sums);
	memcpy(p->sums[app_me], p->window_mine[SUMS], bytes[SUMS]);
	app_comm_end();
}
