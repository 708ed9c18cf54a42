// SPDX-License-Identifier: BSD-3-Clause
// threads.c - MPI_THREAD_MULTIPLE: four threads of each rank use one window inside one epoch, and
// then a window of their own each, with epochs of their own. Skipped where the MPI does not give
// that level.
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, LONGS = 256 };

static MPI_Win common, own[THREADS];
static long *common_memory, *own_memory[THREADS];
static int rounds;

static void start_all(void *(*body)(void *))
{
	pthread_t thread[THREADS];
	static int number[THREADS];
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		CHECK_INT(pthread_create(&thread[i], NULL, body, &number[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
}

// In the common window: a counter of all threads of all ranks, and an area for each thread.
static void *in_common(void *argument)
{
	int number = *(int *)argument;
	long area = 1 + (long)(me * THREADS + number) * LONGS, data[LONGS], got[LONGS], one = 1,
	     last = -1;
	for (int i = 0; i < rounds; i++) {
		int target = (me + i) % np;
		long ticket = -1;
		for (int k = 0; k < LONGS; k++) {
			data[k] = area * 1000 + 10L * i + k;
			got[k] = -1;
		}
		CHECK_MPI(MPI_Put(data, LONGS, MPI_LONG, target, area, LONGS, MPI_LONG, common));
		CHECK_MPI(MPI_Win_flush(target, common));
		CHECK_MPI(MPI_Get(got, LONGS, MPI_LONG, target, area, LONGS, MPI_LONG, common));
		CHECK_MPI(MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, common));
		CHECK_MPI(MPI_Win_flush(target, common));
		CHECK_MPI(MPI_Win_flush(0, common));
		CHECK_MEM(got, data, sizeof data, "thread %d, round %d", number, i);
		CHECK(ticket > last && ticket < (long)np * THREADS * rounds);
		last = ticket;
	}
	return NULL;
}

// In the thread's window: a counter under an exclusive lock, and an accumulate under a shared one.
static void *in_own(void *argument)
{
	int number = *(int *)argument;
	MPI_Win win = own[number];
	long one = 1, value;
	for (int i = 0; i < rounds; i++) {
		int target = (me + i + number) % np;
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
		CHECK_MPI(MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Win_flush(target, win));
		value++;
		CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Win_unlock(target, win));
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
		CHECK_MPI(MPI_Accumulate(&one, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_SUM, win));
		CHECK_MPI(MPI_Win_unlock(target, win));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	CHECK_MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &np);
	if (provided < MPI_THREAD_MULTIPLE) {
		check_skip("no MPI_THREAD_MULTIPLE");
		return check_end("threads");
	}
	rounds = check_rounds(20);
	MPI_Aint bytes = (MPI_Aint)sizeof(long) * (1 + (MPI_Aint)np * THREADS * LONGS);
	CHECK_MPI(MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
		&common_memory, &common));
	memset(common_memory, 0, (size_t)bytes);
	for (int i = 0; i < THREADS; i++) {
		CHECK_MPI(MPI_Win_allocate(16, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
			&own_memory[i], &own[i]));
		own_memory[i][0] = own_memory[i][1] = 0;
	}
	barrier();
	CHECK_MPI(MPI_Win_lock_all(0, common));
	start_all(in_common);
	CHECK_MPI(MPI_Win_unlock_all(common));
	barrier();
	if (me == 0) {
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, common));
		CHECK_INT(common_memory[0], (long)np * THREADS * rounds);
		CHECK_MPI(MPI_Win_unlock(0, common));
	}
	start_all(in_own);
	barrier();
	long sums[2] = {0, 0}, all[2];
	for (int i = 0; i < THREADS; i++) {
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, own[i]));
		sums[0] += own_memory[i][0];
		sums[1] += own_memory[i][1];
		CHECK_MPI(MPI_Win_unlock(me, own[i]));
	}
	CHECK_MPI(MPI_Allreduce(sums, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
	CHECK_INT(all[0], (long)np * THREADS * rounds);
	CHECK_INT(all[1], (long)np * THREADS * rounds);
	for (int i = 0; i < THREADS; i++)
		CHECK_MPI(MPI_Win_free(&own[i]));
	CHECK_MPI(MPI_Win_free(&common));
	return check_end("threads");
}
