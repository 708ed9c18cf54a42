// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Error, dassertp_fail and derr_printf.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	if (ARMCI_Malloc(base, 1000 * sizeof(double)) != 0) /* nonzero on every rank */
		ARMCI_Error("no memory for the vector", 1); /* ends the job */
	dassert1(1, base[me] != NULL, me); /* prints place and value and ends the job, if not so */
	if (ARMCI_PutValueInt(1, base[me], me) != 0)
		derr_printf("rank %d: put failed\n", me); /* one write: lines of ranks do not mix */
	ARMCI_Barrier();
	wrong = *(int *)base[me] != 1;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
