// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCIX_Create_mutexes_hdl, ARMCIX_Destroy_mutexes_hdl and
// ARMCIX_Lock_hdl.
#include <armcix.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(long));
	*(long *)base[me] = 0;
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	armcix_mutex_hdl_t batch = ARMCIX_Create_mutexes_hdl(1, &world); /* one at every rank */
	for (int r = 0; r < np; r++) {
		if (ARMCIX_Trylock_hdl(batch, 0, r) != 0) /* another rank has it: wait */
			ARMCIX_Lock_hdl(batch, 0, r);
		long value = ARMCI_GetValueLong(base[r], r);
		ARMCI_PutValueLong(value + 1, base[r], r); /* the next holder sees it */
		ARMCIX_Unlock_hdl(batch, 0, r);
	}
	ARMCI_Barrier();
	wrong = *(long *)base[me] != np;
	ARMCIX_Destroy_mutexes_hdl(batch);
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
