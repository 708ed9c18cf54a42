// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_Acc.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(double));
	*(double *)base[me] = 0;
	ARMCI_Barrier();
	double one = 1, scale = 0.5; /* every rank adds 0.5 * 1 at rank 0 */
	ARMCI_Acc(ARMCI_ACC_DBL, &scale, &one, base[0], sizeof one, 0);
	ARMCI_Barrier();
	wrong = me == 0 && *(double *)base[0] != 0.5 * np;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
