/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that begins and ends MPI itself, and uses it behind OpenSHMEM; with an argument it
 * begins MPI behind OpenSHMEM, if that has not begun it. */
#include <mpi.h>
#include <stdio.h>

#include <shmem.h>

int main(int argc, char **argv)
{
	int me, sum = 0, n, finalized = 1, begun = 0;
	if (argc < 2)
		MPI_Init(&argc, &argv);
	shmem_init();
	MPI_Initialized(&begun);
	if (!begun)
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	static long word;
	shmem_long_atomic_add(&word, me + 1, (me + 1) % n);
	shmem_barrier_all();
	int right = word == (me + n - 1) % n + 1 && shmem_my_pe() == me && shmem_n_pes() == n;
	if (argc >= 2 && begun) { /* it is the library's to end */
		if (me == 0)
			puts("ok beside");
		shmem_finalize();
		return 0;
	}
	shmem_finalize();
	MPI_Finalized(&finalized);
	MPI_Allreduce(&right, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (me == 0 && sum == n && !finalized)
		puts("ok beside");
	MPI_Finalize();
	return 0;
}
