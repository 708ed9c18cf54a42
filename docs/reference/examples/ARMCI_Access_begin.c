// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_Access_begin.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(int));
	*(int *)base[me] = 0;
	ARMCI_Barrier();
	ARMCI_PutValueInt(me + 1, base[(me + 1) % np], (me + 1) % np);
	int seen = 0;
	while (seen == 0) { /* until the neighbour's value has arrived */
		ARMCI_Access_begin(base[me]);
		seen = *(int *)base[me];
		ARMCI_Access_end(base[me]);
	}
	wrong = seen != (me + np - 1) % np + 1;
	ARMCI_Barrier();
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
