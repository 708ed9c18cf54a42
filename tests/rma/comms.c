// SPDX-License-Identifier: BSD-3-Clause
// comms.c - windows of other communicators than the world: duplicates, halves, all ranks backward,
// oneself alone; ranks are those of the communicator. 64 windows at once, freed in another order
// than they were made.
#include "check.h"

enum { MANY = 64 };

// A ring of puts and a counter at rank 0, in ranks of the communicator.
static void use(MPI_Comm comm, const char *what)
{
	int rank, size;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	int left = (rank + size - 1) % size, right = (rank + 1) % size, from = me;
	MPI_Status status;
	long *memory, value = 100L * me + rank, one = 1, old = -1;
	MPI_Win win;
	// Learns the left neighbour by a message.
	CHECK_MPI(
		MPI_Sendrecv(&me, 1, MPI_INT, right, 1, &from, 1, MPI_INT, left, 1, comm, &status));
	CHECK_MPI(MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, comm, &memory,
		&win));
	memory[0] = memory[1] = 0;
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	if (memory[0] != 100L * from + left)
		check_fail(__FILE__, __LINE__, "%s: got %ld from the left, expected %ld", what,
			memory[0], 100L * from + left);
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
	CHECK_MPI(MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 1, MPI_SUM, win));
	CHECK_MPI(MPI_Win_unlock(0, win));
	CHECK(old >= 0 && old < size);
	CHECK_MPI(MPI_Barrier(comm));
	if (rank == 0) {
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
		CHECK_INT(memory[1], size);
		CHECK_MPI(MPI_Win_unlock(0, win));
	}
	CHECK_MPI(MPI_Win_free(&win));
}

// A communicator may be freed while its window lives.
static void freed_comm(void)
{
	MPI_Comm copy;
	MPI_Win win;
	long memory = -1, value = 9 + me;
	CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
	CHECK_MPI(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, copy, &win));
	CHECK_MPI(MPI_Comm_free(&copy));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, (me + 1) % np, 0, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_INT(memory, 9 + (me + np - 1) % np);
	CHECK_MPI(MPI_Win_free(&win));
}

// Every window has its own memory, locks and epochs: all are in use at the same time.
static void many(void)
{
	MPI_Win win[MANY];
	long *memory[MANY], value[MANY];
	int right = (me + 1) % np, left = (me + np - 1) % np;
	for (int i = 0; i < MANY; i++) {
		CHECK_MPI(MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL,
			MPI_COMM_WORLD, &memory[i], &win[i]));
		*memory[i] = -1;
		value[i] = 1000L * i + me;
	}
	barrier();
	for (int i = 0; i < MANY; i++) {
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win[i]));
		CHECK_MPI(MPI_Put(&value[i], 1, MPI_LONG, right, 0, 1, MPI_LONG, win[i]));
	}
	for (int i = MANY - 1; i >= 0; i--)
		CHECK_MPI(MPI_Win_unlock(right, win[i]));
	barrier();
	for (int i = 0; i < MANY; i++) { // 5 and 64 have no common divisor
		int k = i * 5 % MANY;
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win[k]));
		CHECK_INT(*memory[k], 1000L * k + left);
		CHECK_MPI(MPI_Win_unlock(me, win[k]));
		CHECK_MPI(MPI_Win_free(&win[k]));
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	MPI_Comm comm, part;
	use(MPI_COMM_WORLD, "world");
	use(MPI_COMM_SELF, "self");
	CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	use(comm, "duplicate");
	CHECK_MPI(MPI_Comm_free(&comm));
	CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &comm));
	use(comm, "half");
	CHECK_MPI(MPI_Comm_split(comm, 0, -me, &part));
	use(part, "half backward");
	CHECK_MPI(MPI_Comm_free(&part));
	CHECK_MPI(MPI_Comm_free(&comm));
	CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, np - me, &comm));
	use(comm, "backward");
	CHECK_MPI(MPI_Comm_free(&comm));
	CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : 1, me, &comm));
	if (comm != MPI_COMM_NULL) { // rank 0 is not there
		use(comm, "all but one");
		CHECK_MPI(MPI_Comm_free(&comm));
	}
	freed_comm();
	many();
	return check_end("comms");
}
