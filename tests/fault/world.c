// SPDX-License-Identifier: BSD-3-Clause
// world.c - a program of MPI alone that makes a window and prints how many processes it has: what
// mistakes.sh starts, also with its windows over libarmci.
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv)
{
	int n;
	void *base;
	MPI_Win window;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	printf("mpi %d\n", n);
	fflush(stdout);
	MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
