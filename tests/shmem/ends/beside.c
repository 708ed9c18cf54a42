/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that begins and ends MPI itself, and uses it behind OpenSHMEM. */
#include <mpi.h>
#include <stdio.h>

#include <shmem.h>

int main(int argc, char **argv)
{
	int me, sum = 0, n, finalized = 1;
	MPI_Init(&argc, &argv);
	shmem_init();
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	static long word;
	shmem_long_atomic_add(&word, me + 1, (me + 1) % n);
	shmem_barrier_all();
	int right = word == (me + n - 1) % n + 1 && shmem_my_pe() == me && shmem_n_pes() == n;
	shmem_finalize();
	MPI_Finalized(&finalized);
	MPI_Allreduce(&right, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (me == 0 && sum == n && !finalized)
		puts("ok beside");
	MPI_Finalize();
	return 0;
}
