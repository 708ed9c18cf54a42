// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Lock, ARMCI_Create_mutexes and ARMCI_Destroy_mutexes.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(long));
	*(long *)base[me] = 0;
	ARMCI_Create_mutexes(me == 0 ? 1 : 0); /* mutex 0 at rank 0 */
	long value;
	ARMCI_Lock(0, 0);
	ARMCI_Get(base[0], &value, sizeof value, 0);
	value += 5;
	ARMCI_Put(&value, base[0], sizeof value, 0); /* the next holder sees it */
	ARMCI_Unlock(0, 0);
	ARMCI_Barrier();
	wrong = me == 0 && *(long *)base[0] != 5L * np;
	ARMCI_Destroy_mutexes();
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
