// comm_world.c - the communicators the classic ABI hands out under MPI: ARMCI_COMM_WORLD, which is
// data that a program may hold a copy of, armci_group_comm and ARMCIX_Get_world_comm. Messages on
// them must not meet the library's own. SPDX-License-Identifier: BSD-3-Clause
#include <armcix.h>
#include <mpi.h>
#include <stdio.h>

static int check(const char *what, MPI_Comm comm, int me, int np)
{
	int rank = -1, size = -1, sum = 1;
	if (comm == MPI_COMM_NULL) {
		fprintf(stderr, "rank %d: %s is null\n", me, what);
		return 1;
	}
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
	if (rank != me || size != np || sum != np) {
		fprintf(stderr, "rank %d of %d: %s says %d of %d, sum %d\n", me, np, what, rank,
			size, sum);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (ARMCI_Init() != 0)
		return 1;
	int me = armci_msg_me(), np = armci_msg_nproc(), bad = 0;
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	bad += check("ARMCI_COMM_WORLD", ARMCI_COMM_WORLD, me, np);
	bad += check("armci_group_comm(world)", armci_group_comm(&world), me, np);
	struct {
		MPI_Comm comm;
		int beside;
	} got = {MPI_COMM_NULL, 12345};
	ARMCIX_Get_world_comm(&got.comm);
	bad += check("ARMCIX_Get_world_comm", got.comm, me, np);
	if (got.beside != 12345) {
		fprintf(stderr, "rank %d: ARMCIX_Get_world_comm wrote beside the communicator\n",
			me);
		bad++;
	}
	if (bad)
		MPI_Abort(MPI_COMM_WORLD, 1);
	ARMCI_Finalize();
	MPI_Finalize();
	if (me == 0)
		puts("ok comm_world");
	return 0;
}
