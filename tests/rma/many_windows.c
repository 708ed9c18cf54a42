// SPDX-License-Identifier: BSD-3-Clause
// many_windows.c - many windows alive at once. A MPI has few context ids (MPICH 2048): a window
// costs one of them, as one of the MPI's own does, and where there is none left all members get an
// error and may go on.
#include "check.h"

enum { WANTED = 1600, MOST = 2100 }; // MOST: more than MPICH has

static MPI_Win win[MOST];
static int64_t *memory[MOST];

// False: the window was refused, on all ranks.
static int make(MPI_Comm comm, int i)
{
	int code = MPI_Win_allocate(8, 8, MPI_INFO_NULL, comm, &memory[i], &win[i]);
	int made = code == MPI_SUCCESS, all, some;
	CHECK_MPI(MPI_Allreduce(&made, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
	CHECK_MPI(MPI_Allreduce(&made, &some, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
	CHECK_INT(some, all);
	return all;
}

static void use(int i)
{
	int64_t mine = 1000 * i + me;
	CHECK_MPI(MPI_Win_fence(0, win[i]));
	CHECK_MPI(MPI_Put(&mine, 1, MPI_INT64_T, (me + 1) % np, 0, 1, MPI_INT64_T, win[i]));
	CHECK_MPI(MPI_Win_fence(0, win[i]));
	CHECK_INT(*memory[i], 1000 * i + (me + np - 1) % np);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	MPI_Comm comm;
	int n = 0, most = check_native() ? WANTED : MOST; // MPICH itself dies at its limit
	CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	CHECK_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
	while (n < most && make(comm, n))
		n++;
	CHECK(n >= WANTED);
	for (int i = 0; i < n; i += 97)
		use(i);
	CHECK_MPI(MPI_Win_free(&win[0]));
	CHECK(make(comm, 0)); // there is room again
	use(0);
	for (int i = 0; i < n; i++)
		CHECK_MPI(MPI_Win_free(&win[i]));
	CHECK_MPI(MPI_Comm_free(&comm));
	return check_end("many_windows");
}
