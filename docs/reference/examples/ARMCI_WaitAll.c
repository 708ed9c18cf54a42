// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_WaitAll and ARMCI_WaitProc.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(long));
	long *mine = base[me], *all = ARMCI_Malloc_local(np * sizeof *all);
	*mine = me;
	ARMCI_Barrier();
	for (int r = 0; r < np; r++) /* null: the implicit handle */
		ARMCI_NbGet(base[r], &all[r], sizeof(long), r, NULL);
	ARMCI_WaitProc(0); /* all[0] is here */
	wrong = all[0] != 0;
	ARMCI_WaitAll(); /* and so are the others */
	for (int r = 0; r < np; r++)
		wrong = wrong || all[r] != r;
	ARMCI_Free_local(all);
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
