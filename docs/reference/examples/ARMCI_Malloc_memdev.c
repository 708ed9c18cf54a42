// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Malloc_memdev and ARMCI_Free_memdev.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **counter = malloc(np * sizeof *counter);
	/* The network's devices add, where they can. */
	ARMCI_Malloc_memdev(counter, me == 0 ? sizeof(long) : 0, "rdma-atomics");
	if (me == 0)
		*(long *)counter[0] = 0;
	ARMCI_Barrier();
	long task;
	ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &task, counter[0], 1, 0);
	wrong = task < 0 || task >= np;
	ARMCI_Free_memdev(counter[me]);
	free(counter);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
