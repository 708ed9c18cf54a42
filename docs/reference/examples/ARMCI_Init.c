// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Init, ARMCI_Finalize, armci_msg_init, armci_msg_finalize,
// armci_msg_me and armci_msg_nproc.
#include <armci.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv); /* calls MPI_Init if MPI is part of the program */
	ARMCI_Init();
	printf("rank %d of %d\n", armci_msg_me(), armci_msg_nproc());
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
