// SPDX-License-Identifier: BSD-3-Clause
// Requests of operations that complete now, later or by the work of another thread are completed by
// every function of MPI that completes requests, alone and together with requests of messages.
// Linked with the C files of mpirma under test.
#include <mpi.h>

#include "../../../mpirma/rma.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(yes) \
	do { \
		if (!(yes)) { \
			printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #yes); \
			exit(1); \
		} \
	} while (0)

enum { MOST = 64, POLLS = 20 };

// Instead of Go's table: an operation is complete once it has been asked about so often; negative:
// by another thread.
static atomic_int left[MOST], freed[MOST];

int mpirmago_test(int32_t number)
{
	CHECK(number > 0 && number < MOST && !freed[number]);
	if (left[number] > 0)
		left[number]--;
	if (left[number] == 0)
		freed[number] = 1;
	return left[number] == 0;
}

void mpirmago_wait(int32_t number)
{
	while (!mpirmago_test(number))
		usleep(10);
}

static void *finish_later(void *number)
{
	usleep(20000);
	left[(intptr_t)number] = 0;
	return NULL;
}

static MPI_Request operation(int32_t number, int polls)
{
	MPI_Request request = MPI_REQUEST_NULL;
	left[number] = polls;
	freed[number] = 0;
	CHECK(rma_request(NULL, "MPI_Rput", polls ? number : 0, &request) == 0 &&
		request != MPI_REQUEST_NULL);
	return request;
}

static void check_status(MPI_Status *status)
{
	int cancelled = 1, count = 1;
	MPI_Test_cancelled(status, &cancelled);
	MPI_Get_count(status, MPI_BYTE, &count);
	CHECK(!cancelled && count == 0);
}

static void one_at_a_time(int polls)
{
	MPI_Status status;
	MPI_Request r = operation(1, polls);
	CHECK(MPI_Wait(&r, &status) == 0 && r == MPI_REQUEST_NULL);
	check_status(&status);
	r = operation(1, polls);
	int flag = 0, tests = 0;
	while (!flag && tests++ < 1000000)
		CHECK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE) == 0);
	CHECK(flag && r == MPI_REQUEST_NULL);
	r = operation(1, polls);
	flag = 0;
	while (!flag)
		CHECK(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE) == 0);
	CHECK(r != MPI_REQUEST_NULL && MPI_Wait(&r, MPI_STATUS_IGNORE) == 0);
	CHECK(!polls || freed[1]);
}

static void many(int polls)
{
	MPI_Request r[5];
	MPI_Status statuses[5];
	int index, flag = 0, done, indices[5];
	for (int i = 0; i < 4; i++)
		r[i] = operation(1 + i, i % 2 ? 0 : polls);
	r[4] = MPI_REQUEST_NULL;
	CHECK(MPI_Waitall(5, r, statuses) == 0);
	for (int i = 0; i < 4; i++)
		r[i] = operation(1 + i, polls);
	while (!flag)
		CHECK(MPI_Testall(4, r, &flag, MPI_STATUSES_IGNORE) == 0);
	for (int i = 0; i < 4; i++)
		r[i] = operation(1 + i, polls * (4 - i));
	for (int i = 0; i < 4; i++)
		CHECK(MPI_Waitany(5, r, &index, statuses) == 0 && index >= 0 && index < 4 &&
			r[index] == MPI_REQUEST_NULL);
	CHECK(MPI_Waitany(5, r, &index, statuses) == 0 && index == MPI_UNDEFINED);
	for (int i = 0; i < 4; i++)
		r[i] = operation(1 + i, polls * (4 - i));
	for (int left_over = 4; left_over > 0; left_over -= done)
		CHECK(MPI_Waitsome(5, r, &done, indices, statuses) == 0 && done > 0);
	for (int i = 0; i < 4; i++)
		r[i] = operation(1 + i, polls * (4 - i));
	for (int left_over = 4; left_over > 0; left_over -= done)
		CHECK(MPI_Testsome(5, r, &done, indices, MPI_STATUSES_IGNORE) == 0 && done >= 0);
	r[0] = operation(1, polls);
	for (flag = 0; !flag;)
		CHECK(MPI_Testany(5, r, &index, &flag, MPI_STATUS_IGNORE) == 0);
	CHECK(index == 0);
}

static void with_messages(int polls)
{
	MPI_Request r[3];
	int in = 0, out = 7, index;
	MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[0]);
	r[1] = operation(1, polls);
	CHECK(MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE) == 0 && index == 1);
	r[1] = operation(1, polls);
	MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[2]);
	CHECK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE) == 0 && in == 7);
}

static void by_a_thread(void)
{
	pthread_t thread;
	MPI_Request r = operation(1, -1);
	pthread_create(&thread, NULL, finish_later, (void *)1);
	CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == 0 && freed[1]);
	pthread_join(thread, NULL);
}

static void *wait_for_one(void *number)
{
	for (int i = 0; i < 500; i++) {
		MPI_Request r = operation((int)(intptr_t)number, 1 + i % POLLS);
		CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == 0 && freed[(intptr_t)number]);
	}
	return NULL;
}

static void several_threads(void)
{
	pthread_t thread[4];
	for (intptr_t i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, wait_for_one, (void *)(10 + i));
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

// Erroneous for one-sided operations, but must not crash.
static void freed_early(int polls)
{
	MPI_Request r = operation(1, polls), other = operation(2, 4 * POLLS);
	MPI_Request_free(&r);
	CHECK(r == MPI_REQUEST_NULL);
	MPI_Wait(&other, MPI_STATUS_IGNORE);
	left[1] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int level, late[] = { 0, 1, POLLS };
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	CHECK(abi_open());
	for (int i = 0; i < 3; i++) {
		one_at_a_time(late[i]);
		many(late[i]);
		with_messages(late[i]);
	}
	by_a_thread();
	if (level == MPI_THREAD_MULTIPLE)
		several_threads();
	freed_early(0);
	freed_early(POLLS);
	MPI_Finalize();
	puts("requests: passed");
	return 0;
}
