// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_Rmw.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, me == 0 ? sizeof(long) : 0); /* a counter at rank 0 */
	if (me == 0)
		*(long *)base[0] = 0;
	ARMCI_Barrier();
	long task;
	do { /* each task is taken once, by the rank that comes first */
		ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &task, base[0], 1, 0);
	} while (task < 100);
	ARMCI_Barrier();
	wrong = me == 0 && *(long *)base[0] != 100 + np;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
