// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_Test.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 1000 * sizeof(double));
	double *mine = base[me], got[1000];
	int from = (me + 1) % np, steps = 0;
	for (int i = 0; i < 1000; i++)
		mine[i] = me;
	ARMCI_Barrier();
	armci_hdl_t handle;
	ARMCI_NbGet(base[from], got, sizeof got, from, &handle);
	while (ARMCI_Test(&handle) == 1) /* 0: the data are here */
		steps++;                     /* ... a step of some other work ... */
	wrong = got[999] != from;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
