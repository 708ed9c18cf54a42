// SPDX-License-Identifier: BSD-3-Clause
// init_thread.c - the other ways to start: ARMCI_Init_thread and, with MPI, ARMCI_Init_mpi_comm
// over a part of the job. It must not need more than the lowest MPI thread level.
#include "check.h"

static void ring(void)
{
	void **base = check_malloc(sizeof(long));
	int peer = (me + 1) % np;
	CHECK_OK(ARMCI_PutValueLong(500L + me, base[peer], peer));
	ARMCI_Barrier();
	CHECK_INT(*(long *)base[me], 500 + (me + np - 1) % np);
	check_free(base);
}

#ifdef MPI_VERSION
// The ranks of each half are an ARMCI job of their own, numbered as in the communicator.
static int start(int *argc, char ***argv)
{
	int world_rank, world_size, rank, size;
	MPI_Comm half;
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &world_size);
	MPI_Comm_split(MPI_COMM_WORLD, world_rank < (world_size + 1) / 2, -world_rank, &half);
	MPI_Comm_rank(half, &rank);
	MPI_Comm_size(half, &size);
	CHECK_INT(ARMCI_Init_mpi_comm(half), 1); // 1 is success
	MPI_Comm_free(&half);
	CHECK_INT(armci_msg_me(), rank);
	CHECK_INT(armci_msg_nproc(), size);
	return world_rank;
}
#else
static int start(int *argc, char ***argv)
{
	armci_msg_init(argc, argv);
	CHECK_OK(ARMCI_Init_thread(0));
	return armci_msg_me();
}
#endif

int main(int argc, char **argv)
{
	int world_rank = start(&argc, &argv);
	me = armci_msg_me();
	np = armci_msg_nproc();
	CHECK_INT(ARMCI_Initialized(), 1);
	ring();
	ARMCI_Barrier();
	ARMCI_Finalize();
	if (world_rank == 0)
		printf("ok init_thread (%d ranks)\n", np);
	armci_msg_finalize();
	return 0;
}
