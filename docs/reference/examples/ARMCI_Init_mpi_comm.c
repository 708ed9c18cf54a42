// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Init_mpi_comm, armci_msg_init_comm, armci_group_comm and
// ARMCIX_Get_world_comm.
#include <armcix.h>
#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int all, wrong;
	MPI_Comm_size(MPI_COMM_WORLD, &all);
	armci_msg_init_comm(MPI_COMM_WORLD); /* only for messages before ARMCI_Init_mpi_comm */
	/* or any other intracommunicator: its ranks are ARMCI's */
	ARMCI_Init_mpi_comm(MPI_COMM_WORLD);
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	/* for messages between the members of a group */
	MPI_Comm mine = armci_group_comm(&world), same;
	ARMCIX_Get_world_comm(&same);
	int sum = 1;
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, mine);
	wrong = sum != all || armci_msg_nproc() != all || same != mine;
	ARMCI_Finalize();
	MPI_Finalize();
	return wrong;
}
