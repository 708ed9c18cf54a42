// SPDX-License-Identifier: BSD-3-Clause
// passthrough.c - communicators that are not simply a part of the world: a window of two groups
// that were merged works in the merged ranks, and an intercommunicator is refused.
#include "check.h"

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	MPI_Comm half, between, merged;
	MPI_Win win;
	long memory = -1, value, *base;
	int rank, size, from;
	if (np == 1) {
		check_skip("one rank has no other group");
		return check_end("passthrough");
	}
	int high = me >= np / 2;
	CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, high, -me, &half));
	CHECK_MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, high ? np / 2 - 1 : np - 1, 3,
		&between));
	CHECK_MPI(MPI_Intercomm_merge(between, !high, &merged)); // the high half comes first
	MPI_Comm_rank(merged, &rank);
	MPI_Comm_size(merged, &size);
	CHECK_INT(size, np);
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	CHECK_MPI(MPI_Sendrecv(&me, 1, MPI_INT, right, 1, &from, 1, MPI_INT, left, 1, merged,
		MPI_STATUS_IGNORE));
	CHECK_MPI(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, merged, &win));
	value = 1000L * me + rank;
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	CHECK_INT(memory, 1000L * from + left);
	value = -1;
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
	CHECK_MPI(MPI_Get(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_unlock(right, win));
	CHECK_INT(value, 1000L * me + rank);
	CHECK_MPI(MPI_Win_free(&win));
	CHECK_MPI(MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN));
	if (!check_native()) // MPICH 4.0 waits for ever
		CHECK_CLASS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, between, &base, &win),
			MPI_ERR_COMM);
	CHECK_MPI(MPI_Comm_free(&merged));
	CHECK_MPI(MPI_Comm_free(&between));
	CHECK_MPI(MPI_Comm_free(&half));
	return check_end("passthrough");
}
