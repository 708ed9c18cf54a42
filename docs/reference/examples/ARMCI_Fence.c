// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Fence and ARMCI_AllFence.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 100 * sizeof(double));
	int owner = np - 1, reader = 1 % np, ready = 1;
	double value[100];
	if (me == 0) {
		for (int i = 0; i < 100; i++) {
			value[i] = i;
			ARMCI_Put(&value[i], (double *)base[owner] + i, sizeof(double), owner);
		}
		ARMCI_Fence(owner); /* once; ARMCI_AllFence() after stores at several ranks */
		armci_msg_snd(1, &ready, sizeof ready, reader);
	}
	if (me == reader) { /* a third rank finds them there */
		armci_msg_rcv(1, &ready, sizeof ready, NULL, 0);
		ARMCI_Get(base[owner], value, sizeof value, owner);
		wrong = value[99] != 99;
	}
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
