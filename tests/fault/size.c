// SPDX-License-Identifier: BSD-3-Clause
// size.c - a program without MPI that prints how many ranks its job has: what mistakes.sh starts.
#include <armci.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	if (ARMCI_Init())
		return 5;
	printf("armci %d\n", armci_msg_nproc());
	fflush(stdout);
	ARMCI_Barrier();
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
