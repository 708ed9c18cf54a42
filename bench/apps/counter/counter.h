// SPDX-License-Identifier: BSD-3-Clause
// What the versions of the task pool share: the tasks, whose results are sums, and the distributed
// array of these sums.
#ifndef COUNTER_H
#define COUNTER_H

#include "app.h"

enum {
	LENGTH = 128,  // elements of a result
	// sums of as many elements that each rank owns; the result of a task goes to one of them
	SEGMENTS = 16,
};

struct pool {
	long tasks;
	void **sums;       // where each rank has its segments
	void **count;      // where rank 0 counts the tasks that were taken
	int *done;         // how often I did each task
	MPI_Win window[2]; // the same for MPI's one-sided communication: sums, count
	void *window_mine[2];
};

// Where the result of a task is added: the rank, and which of its segments.
int owner_of(long task);
int segment_of(long task);

// Does a task: uneven work, and a result of whole numbers.
void task_do(struct pool *p, long task, double *result);
void add(double *sum, const double *result);

// Does all tasks; the sums are complete when all ranks have returned and come through a barrier.
void pool_messages(struct pool *p);
void pool_mpi_rma(struct pool *p);
void pool_armci(struct pool *p);

// The windows of pool_mpi_rma (rma.c).
void windows_begin(struct pool *p);
void windows_clear(struct pool *p); // before a run; the caller has a barrier behind it
void windows_end(struct pool *p);

#endif
