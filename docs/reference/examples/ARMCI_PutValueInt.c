// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_PutValueInt, ARMCI_GetValueInt and ARMCI_NbPutValueInt.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 2 * sizeof(double));
	int to = (me + 1) % np;
	armci_hdl_t handle;
	ARMCI_PutValueDouble(0.5, base[to], to); /* needs no variable to put from */
	ARMCI_NbPutValueDouble(1.5, (double *)base[to] + 1, to, &handle);
	ARMCI_Wait(&handle);
	ARMCI_Barrier();
	double sum = ARMCI_GetValueDouble(base[to], to);
	sum += ARMCI_GetValueDouble((double *)base[to] + 1, to);
	wrong = sum != 2;
	ARMCI_Barrier();
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
