// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Malloc, ARMCI_Free and ARMCI_Get.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 1000 * sizeof(double)); /* base[r]: the memory of rank r */
	double *mine = base[me];
	for (int i = 0; i < 1000; i++)
		mine[i] = me;
	ARMCI_Barrier(); /* all have written */
	double first;
	ARMCI_Get(base[(me + 1) % np], &first, sizeof first, (me + 1) % np);
	wrong = first != (me + 1) % np;
	ARMCI_Free(base[me]); /* waits for all, then frees */
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
