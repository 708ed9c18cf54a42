// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_NbPut, ARMCI_Wait and ARMCI_INIT_HANDLE.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 8 * sizeof(long));
	long value[8], to = (me + 1) % np;
	armci_hdl_t handle;
	ARMCI_INIT_HANDLE(&handle);
	for (int i = 0; i < 8; i++) { /* one handle for eight puts */
		value[i] = i;
		ARMCI_NbPut(&value[i], (long *)base[to] + i, sizeof(long), (int)to, &handle);
	}
	/* ... computation ... */
	ARMCI_Wait(&handle); /* value may be changed now */
	ARMCI_Barrier();     /* and this shows what came */
	wrong = ((long *)base[me])[7] != 7;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
