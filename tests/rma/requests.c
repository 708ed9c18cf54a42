// SPDX-License-Identifier: BSD-3-Clause
// requests.c - MPI_Rput, Rget, Raccumulate and Rget_accumulate: their requests with MPI_Wait, Test,
// Waitall, Testall, Waitany and Testany, together with requests of messages, and what is complete
// when.
#include "check.h"

enum { N = 2000, OPS = 8 };

static MPI_Win win;
static long *memory; // N longs for each origin

// Waits for one request in the way of this number.
static void wait_for(int way, MPI_Request *request)
{
	int flag = 0, index = -1;
	MPI_Status status;
	switch (way % 6) {
	case 0: CHECK_MPI(MPI_Wait(request, &status)); break;
	case 1:
		while (!flag)
			CHECK_MPI(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
		break;
	case 2: CHECK_MPI(MPI_Waitall(1, request, &status)); break;
	case 3:
		while (!flag)
			CHECK_MPI(MPI_Testall(1, request, &flag, &status));
		break;
	case 4:
		CHECK_MPI(MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE));
		CHECK_INT(index, 0);
		break;
	case 5:
		while (!flag)
			CHECK_MPI(MPI_Testany(1, request, &index, &flag, &status));
		CHECK_INT(index, 0);
		break;
	}
	CHECK(*request == MPI_REQUEST_NULL);
}

// One after another: put, read back, add, read and add, in every way of waiting.
static void one_by_one(int target, int n)
{
	static long data[N], got[N], result[N];
	MPI_Request request;
	for (int way = 0; way < 6; way++) {
		for (int i = 0; i < n; i++)
			data[i] = 1000000L * me + 10000L * way + i;
		CHECK_MPI(MPI_Rput(data, n, MPI_LONG, target, (MPI_Aint)N * me, n, MPI_LONG, win,
			&request));
		wait_for(way, &request);
		memset(data, 0, sizeof data); // local completion
		CHECK_MPI(MPI_Win_flush(target, win));
		CHECK_MPI(MPI_Rget(got, n, MPI_LONG, target, (MPI_Aint)N * me, n, MPI_LONG, win,
			&request));
		wait_for(way + 1, &request);
		for (int i = 0; i < n; i++) {
			CHECK_INT(got[i], 1000000L * me + 10000L * way + i);
			data[i] = i;
		}
		CHECK_MPI(MPI_Raccumulate(data, n, MPI_LONG, target, (MPI_Aint)N * me, n, MPI_LONG,
			MPI_SUM, win, &request));
		wait_for(way + 2, &request);
		memset(got, 0, sizeof got);
		for (int i = 0; i < n; i++)
			data[i] = 7;
		CHECK_MPI(MPI_Rget_accumulate(data, n, MPI_LONG, result, n, MPI_LONG, target,
			(MPI_Aint)N * me, n, MPI_LONG, MPI_REPLACE, win, &request));
		wait_for(way + 3, &request);
		for (int i = 0; i < n; i++)
			CHECK_INT(result[i], 1000000L * me + 10000L * way + 2 * i);
		CHECK_MPI(MPI_Rget_accumulate(NULL, 0, MPI_LONG, result, n, MPI_LONG, target,
			(MPI_Aint)N * me, n, MPI_LONG, MPI_NO_OP, win, &request));
		wait_for(way + 4, &request);
		for (int i = 0; i < n; i++)
			CHECK_INT(result[i], 7);
	}
}

// A flush, also a local one, completes what has a request: the data is there before that has been
// waited for.
static void flushed(int target)
{
	static long data[N], result[2][N];
	MPI_Aint mine = (MPI_Aint)N * me, theirs = (MPI_Aint)N * ((me + 1) % np);
	MPI_Request request[2];
	MPI_Status status[2];
	for (int round = 0; round < check_rounds(20); round++) {
		int n = round % 2 ? N : 1;
		for (int i = 0; i < n; i++)
			data[i] = 1000L * round + i;
		CHECK_MPI(MPI_Put(data, n, MPI_LONG, target, mine, n, MPI_LONG, win));
		CHECK_MPI(MPI_Win_flush(target, win));
		memset(result, 0, sizeof result);
		CHECK_MPI(MPI_Rget_accumulate(data, n, MPI_LONG, result[0], n, MPI_LONG, target,
			mine, n, MPI_LONG, MPI_SUM, win, &request[0]));
		CHECK_MPI(MPI_Rget(result[1], n, MPI_LONG, target, theirs, n, MPI_LONG, win,
			&request[1]));
		if (round % 4 < 2)
			CHECK_MPI(MPI_Win_flush_local(target, win));
		else
			CHECK_MPI(MPI_Win_flush(target, win));
		for (int i = 0; i < n; i++)
			CHECK_INT(result[0][i], 1000L * round + i);
		CHECK_MPI(MPI_Waitall(2, request, status));
	}
}

// Many at once to all targets, together with the requests of a message; completed all together, or
// in any order.
static void together(int any)
{
	static long data[OPS][64], got[OPS][64];
	MPI_Request request[2 * OPS + 2];
	MPI_Status status[2 * OPS + 2];
	int left = (me + np - 1) % np, right = (me + 1) % np, sent = 40 + me, received = -1,
	    done = 0;
	for (int k = 0; k < OPS; k++) {
		for (int i = 0; i < 64; i++)
			data[k][i] = 100L * me + 1000L * k + i;
		CHECK_MPI(MPI_Put(data[k], 64, MPI_LONG, (me + k) % np, (MPI_Aint)N * me + 64 * k,
			64, MPI_LONG, win));
	}
	CHECK_MPI(MPI_Win_flush_all(win));
	for (int k = 0; k < OPS; k++) {
		CHECK_MPI(MPI_Rget(got[k], 64, MPI_LONG, (me + k) % np, (MPI_Aint)N * me + 64 * k,
			64, MPI_LONG, win, &request[2 * k]));
		CHECK_MPI(MPI_Rput(data[k], 64, MPI_LONG, (me + k) % np,
			(MPI_Aint)N * me + 64 * (k + OPS), 64, MPI_LONG, win, &request[2 * k + 1]));
	}
	CHECK_MPI(MPI_Irecv(&received, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &request[2 * OPS]));
	CHECK_MPI(MPI_Isend(&sent, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &request[2 * OPS + 1]));
	if (!any)
		CHECK_MPI(MPI_Waitall(2 * OPS + 2, request, status));
	while (any) {
		int index;
		CHECK_MPI(MPI_Waitany(2 * OPS + 2, request, &index, MPI_STATUS_IGNORE));
		if (index == MPI_UNDEFINED)
			break;
		CHECK(request[index] == MPI_REQUEST_NULL);
		done++;
	}
	CHECK_INT(done, any ? 2 * OPS + 2 : 0);
	CHECK_INT(received, 40 + left);
	for (int k = 0; k < OPS; k++)
		CHECK_MEM(got[k], data[k], sizeof data[k], "Rget number %d", k);
	CHECK_MPI(MPI_Win_flush_all(win));
	for (int k = 0; k < OPS; k++) {
		memset(got[k], 0, sizeof got[k]);
		CHECK_MPI(MPI_Rget(got[k], 64, MPI_LONG, (me + k) % np,
			(MPI_Aint)N * me + 64 * (k + OPS), 64, MPI_LONG, win, &request[k]));
	}
	CHECK_MPI(MPI_Waitall(OPS, request, status));
	for (int k = 0; k < OPS; k++)
		CHECK_MEM(got[k], data[k], sizeof data[k], "Rput number %d read back", k);
}

// No target, and no data: the requests are complete.
static void nothing(void)
{
	long value = 3, got = 4;
	MPI_Request request[4];
	MPI_Status status[4];
	CHECK_MPI(MPI_Rput(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &request[0]));
	CHECK_MPI(MPI_Rget(&got, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &request[1]));
	CHECK_MPI(MPI_Rget(&got, 0, MPI_LONG, me, 0, 0, MPI_LONG, win, &request[2]));
	CHECK_MPI(MPI_Raccumulate(&value, 0, MPI_LONG, me, 0, 0, MPI_LONG, MPI_SUM, win,
		&request[3]));
	CHECK_MPI(MPI_Waitall(4, request, status));
	CHECK_INT(got, 4);
}

// The end of an epoch completes operations whose requests were not waited for yet.
static void ended_by_epoch(void)
{
	enum { MANY = 64 };
	static long got[MANY][16];
	MPI_Request request[MANY];
	MPI_Status status[MANY];
	int right = (me + 1) % np;
	// at my own memory: the reader's part
	for (int k = 0; k < MANY; k++) memory[N * right + k] = 1000 * me + k;
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
	for (int k = 0; k < MANY; k++) {
		memset(got[k], 0, sizeof got[k]);
		CHECK_MPI(MPI_Rget(got[k], 1, MPI_LONG, right, (MPI_Aint)N * ((right + 1) % np) + k,
			1, MPI_LONG, win, &request[k]));
	}
	CHECK_MPI(MPI_Win_unlock(right, win));
	for (int k = 0; k < MANY; k++) CHECK_INT(got[k][0], 1000 * right + k);
	CHECK_MPI(MPI_Waitall(MANY, request, status));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK_MPI(MPI_Win_allocate((MPI_Aint)N * np * (MPI_Aint)sizeof(long), sizeof(long),
		MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int t = 0; t < np; t++) {
		one_by_one((me + t) % np, 1);
		one_by_one((me + t) % np, N);
	}
	for (int t = 0; t < np; t++)
		flushed((me + t) % np);
	barrier();
	together(0);
	together(1);
	nothing();
	CHECK_MPI(MPI_Win_unlock_all(win));
	barrier();
	ended_by_epoch();
	barrier();
	CHECK_MPI(MPI_Win_free(&win));
	return check_end("requests");
}
