// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Malloc_local and ARMCI_Free_local.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 1 << 20);
	/* over RDMA registered once, for all transfers */
	char *buffer = ARMCI_Malloc_local(1 << 20);
	if (buffer == NULL)
		ARMCI_Error("no memory for a buffer", 1);
	for (int step = 0; step < 10; step++) {
		memset(buffer, step, 1 << 20);
		ARMCI_Put(buffer, base[(me + 1) % np], 1 << 20, (me + 1) % np);
	}
	ARMCI_Barrier();
	wrong = ((char *)base[me])[1000] != 9;
	ARMCI_Free_local(buffer);
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
