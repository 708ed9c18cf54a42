// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_NbAcc.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 1000 * sizeof(double));
	double *mine = base[me], ones[1000], scale = 1;
	for (int i = 0; i < 1000; i++) {
		mine[i] = 0;
		ones[i] = 1;
	}
	ARMCI_Barrier();
	armci_hdl_t handle;
	ARMCI_INIT_HANDLE(&handle);
	for (int r = 0; r < np; r++) /* to all ranks at the same time */
		ARMCI_NbAcc(ARMCI_ACC_DBL, &scale, ones, base[r], sizeof ones, r, &handle);
	/* ... computation ... */
	ARMCI_Wait(&handle); /* ones may be changed now */
	ARMCI_Barrier();
	wrong = mine[999] != np;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
