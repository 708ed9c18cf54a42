// SPDX-License-Identifier: BSD-3-Clause
// goes_on.c - messages go on while their sender waits in a call of one-sided communication: a large
// message that its receiver takes before it lets the sender go on must not hang. Meanwhile each
// rank has a message that it has not received.
#include "check.h"

enum { N = 1 << 18 };
static int out[N], in[N];

static MPI_Request send_first(void)
{
	MPI_Request request;
	for (int i = 0; i < N; i++) out[i] = 3 * i + me;
	CHECK_MPI(MPI_Isend(out, N, MPI_INT, 1, 7, MPI_COMM_WORLD, &request));
	return request;
}

static void receive_first(void)
{
	memset(in, 0, sizeof in);
	CHECK_MPI(MPI_Recv(in, N, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	for (int i = 0; i < N; i += 1001) CHECK_INT(in[i], 3 * i);
}

// Each function: rank 0 waits for rank 1, which first receives a message of rank 0.
static void in_fence(MPI_Win win)
{
	MPI_Request request = MPI_REQUEST_NULL;
	if (me == 0)
		request = send_first();
	if (me == 1)
		receive_first();
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void in_pscw(MPI_Win win, MPI_Group peer)
{
	long value = 5;
	if (me == 0) {
		MPI_Request request = send_first();
		CHECK_MPI(MPI_Win_post(peer, 0, win));
		CHECK_MPI(MPI_Win_wait(win)); // rank 1 completes after it has received
		request = (CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE)), send_first());
		CHECK_MPI(MPI_Win_start(peer, 0, win)); // rank 1 posts after it has received
		CHECK_MPI(MPI_Win_complete(win));
		CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
	} else {
		CHECK_MPI(MPI_Win_start(peer, 0, win));
		CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
		receive_first();
		CHECK_MPI(MPI_Win_complete(win));
		receive_first();
		CHECK_MPI(MPI_Win_post(peer, 0, win));
		CHECK_MPI(MPI_Win_wait(win));
	}
}

static void in_lock(MPI_Win win)
{
	if (me == 1)
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
	CHECK_MPI(MPI_Barrier(MPI_COMM_WORLD));
	if (me == 0) {
		MPI_Request request = send_first();
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
		CHECK_MPI(MPI_Win_unlock(0, win));
		CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
	if (me == 1) {
		receive_first();
		CHECK_MPI(MPI_Win_unlock(0, win));
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	if (np == 1) {
		check_skip("one rank has nobody to send to");
		return check_end("goes_on");
	}
	long *base;
	MPI_Win win;
	MPI_Group world, peer;
	int other = 1 - me;
	MPI_Request unread;
	CHECK_MPI(MPI_Isend(&np, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &unread));
	CHECK_MPI(MPI_Win_allocate(sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
	in_fence(win);
	if (me < 2) {
		CHECK_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
		CHECK_MPI(MPI_Group_incl(world, 1, &other, &peer));
		in_pscw(win, peer);
		CHECK_MPI(MPI_Group_free(&peer));
		CHECK_MPI(MPI_Group_free(&world));
	}
	in_lock(win);
	CHECK_MPI(MPI_Win_free(&win));
	CHECK_MPI(MPI_Recv(in, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK_MPI(MPI_Wait(&unread, MPI_STATUS_IGNORE));
	return check_end("goes_on");
}
