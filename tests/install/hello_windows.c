// SPDX-License-Identifier: BSD-3-Clause
// hello_windows.c - the smallest use of an installed libarmci-mpirma: a ring of puts, and the
// library is in the process.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int me, n, *memory;
	MPI_Win win;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (!dlopen("libarmci-mpirma.so", RTLD_NOLOAD | RTLD_NOW)) {
		fprintf(stderr, "rank %d: libarmci-mpirma.so is not loaded\n", me);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_fence(0, win);
	MPI_Put(&me, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	int good = *memory == (me + n - 1) % n, all;
	MPI_Win_free(&win);
	MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	if (me == 0 && all)
		printf("ok hello of %d\n", n);
	MPI_Finalize();
	return !all;
}
