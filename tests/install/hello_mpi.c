// hello_mpi.c - hello.c for the ABI of ARMCI-MPI: MPI started by the program, groups that carry a
// communicator. It is compiled against the installed library only and must not use anything of the
// source tree. SPDX-License-Identifier: BSD-3-Clause
#include <armci.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (ARMCI_Init() != 0)
		return 1;
	int me = armci_msg_me(), np = armci_msg_nproc(), next = (me + 1) % np,
	    before = (me + np - 1) % np, size = 0;
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	MPI_Comm_size(world.comm, &size);
	void **base = malloc(sizeof(void *) * (size_t)np);
	if (size != np || base == NULL || ARMCI_Malloc(base, sizeof(int)) != 0)
		ARMCI_Error("no memory, or another world", size);
	ARMCI_PutValueInt(me, base[next], next);
	ARMCI_Barrier();
	int mine = 0;
	ARMCI_Get(base[me], &mine, sizeof mine, me);
	if (mine != before)
		ARMCI_Error("wrong neighbour", mine);
	ARMCI_Free(base[me]);
	free(base);
	if (me == 0)
		printf("ok hello of %d\n", np);
	ARMCI_Finalize();
	MPI_Finalize();
	return 0;
}
