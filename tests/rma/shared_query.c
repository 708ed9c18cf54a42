// SPDX-License-Identifier: BSD-3-Clause
// shared_query.c - addresses that MPI_Win_shared_query gives away in windows that were not made by
// MPI_Win_allocate_shared: loads under MPI_Win_lock_all do not see half of what another rank does
// under an exclusive lock, whether the address is asked for before the epoch or in it.
#include "check.h"

static MPI_Comm node;
static int rank;

// Rank 1 of the node changes two words of rank 0 under an exclusive lock, slowly.
static void change(MPI_Win win, int64_t value)
{
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
	CHECK_MPI(MPI_Put(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win));
	CHECK_MPI(MPI_Win_flush(0, win));
	CHECK_MPI(MPI_Send(NULL, 0, MPI_BYTE, 2, 9, node));
	usleep(100000);
	CHECK_MPI(MPI_Put(&value, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, win));
	CHECK_MPI(MPI_Win_unlock(0, win));
}

static volatile int64_t *ask(MPI_Win win)
{
	MPI_Aint size;
	int unit;
	volatile int64_t *at;
	CHECK_MPI(MPI_Win_shared_query(win, 0, &size, &unit, (void *)&at));
	CHECK_INT(size, 16);
	CHECK_INT(unit, 8);
	CHECK(at != NULL);
	return at;
}

static void look(MPI_Win win, int ask_first)
{
	volatile int64_t *at = ask_first ? ask(win) : NULL;
	CHECK_MPI(MPI_Recv(NULL, 0, MPI_BYTE, 1, 9, node, MPI_STATUS_IGNORE));
	CHECK_MPI(MPI_Win_lock_all(0, win));
	at = ask_first ? at : ask(win);
	int64_t one = at[0], two = at[1];
	CHECK_MPI(MPI_Win_unlock_all(win));
	CHECK_INT(one, two);
}

static void try_window(MPI_Win win, int64_t *memory)
{
	for (int ask_first = 0; ask_first < 2; ask_first++) {
		memory[0] = memory[1] = 0;
		barrier();
		if (rank == 1)
			change(win, 5 + ask_first);
		else if (rank == 2)
			look(win, ask_first);
		barrier();
		if (rank == 0)
			CHECK_INT(memory[1], 5 + ask_first);
	}
	CHECK_MPI(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	int n;
	MPI_Win win;
	int64_t *memory;
	node = check_node();
	CHECK_MPI(MPI_Comm_rank(node, &rank));
	CHECK_MPI(MPI_Comm_size(node, &n));
	CHECK_MPI(MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
	if (n < 3 || check_native()) {
		check_skip(
			n < 3 ? "fewer than three ranks on a node" : "the MPI itself refuses it");
		return check_end("shared_query");
	}
	CHECK_MPI(MPI_Win_allocate(16, 8, MPI_INFO_NULL, node, &memory, &win));
	try_window(win, memory);
	CHECK_MPI(MPI_Alloc_mem(16, MPI_INFO_NULL, &memory));
	CHECK_MPI(MPI_Win_create(memory, 16, 8, MPI_INFO_NULL, node, &win));
	try_window(win, memory);
	CHECK_MPI(MPI_Free_mem(memory));
	CHECK_MPI(MPI_Comm_free(&node));
	return check_end("shared_query");
}
