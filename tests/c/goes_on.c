// SPDX-License-Identifier: BSD-3-Clause
// Programs use messages of their MPI beside this library: a long message goes on while its sender,
// which has not waited for it, is in a barrier, a reduction, or waits for a message or a
// notification. Without that, receiver and sender wait for each other. Meanwhile each rank has a
// short message that it has not received: an MPI that finds what it looks for does nothing else.
#include "check.h"

#if __has_include(<mpi.h>)
#include <mpi.h>
#include <unistd.h>

enum { LONG = 4 << 20, TAG = 5 };

static char *block;
static void **base;

// What rank 0 waits in until rank 1 has its message.
static void wait_in(int way)
{
	int sum = 1;
	char word = 0;
	switch (way) {
	case 0: ARMCI_Barrier(); break;
	case 1: armci_msg_barrier(); break;
	case 2:
		armci_msg_igop(&sum, 1, "+");
		CHECK_INT(sum, np);
		break;
	case 3:
		if (me == 1)
			armci_msg_snd(TAG, &word, 1, 0);
		else if (me == 0)
			armci_msg_rcv(TAG, &word, 1, NULL, 1);
		break;
	default:
		if (me == 1)
			armci_notify(0);
		else if (me == 0)
			armci_notify_wait(1, &sum);
	}
}

static void once(int way)
{
	MPI_Request sent = MPI_REQUEST_NULL, own;
	char unread = (char)way, read = -1;
	MPI_Isend(&unread, 1, MPI_BYTE, me, 0, MPI_COMM_WORLD, &own);
	ARMCI_Barrier();
	if (me == 0) {
		memset(block, way + 1, LONG);
		MPI_Isend(block, LONG, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &sent);
	} else if (me == 1) {
		usleep(20000);
		MPI_Recv(block, LONG, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		CHECK_INT(block[0], way + 1);
		CHECK_INT(block[LONG - 1], way + 1);
	}
	wait_in(way);
	MPI_Wait(&sent, MPI_STATUS_IGNORE);
	MPI_Recv(&read, 1, MPI_BYTE, me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&own, MPI_STATUS_IGNORE);
	CHECK_INT(read, way);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	block = malloc(LONG);
	CHECK(block != NULL);
	base = check_malloc(64);
	for (int way = 0; np > 1 && way < 5; way++) once(way);
	check_free(base);
	free(block);
	return check_end("goes_on");
}
#else
int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	check_skip("no MPI");
	return check_end("goes_on");
}
#endif
