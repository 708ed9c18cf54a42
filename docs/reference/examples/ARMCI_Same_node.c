// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_Same_node.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(long));
	*(long *)base[me] = me;
	ARMCI_Barrier();
	long sum = 0, value;
	for (int r = 0; r < np; r++)
		if (ARMCI_Same_node(r)) { /* its memory is also ours */
			sum += *(long *)base[r];
		} else {
			ARMCI_Get(base[r], &value, sizeof value, r);
			sum += value;
		}
	wrong = sum != np * (np - 1L) / 2;
	ARMCI_Barrier();
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
