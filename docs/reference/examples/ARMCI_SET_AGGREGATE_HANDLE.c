// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_SET_AGGREGATE_HANDLE and ARMCI_UNSET_AGGREGATE_HANDLE.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 1000 * sizeof(double));
	double value[1000];
	int to = (me + 1) % np;
	armci_hdl_t handle;
	ARMCI_INIT_HANDLE(&handle);
	ARMCI_SET_AGGREGATE_HANDLE(&handle);
	for (int i = 0; i < 1000; i += 10) { /* a hundred small puts, sent together */
		value[i] = i;
		ARMCI_NbPut(&value[i], (double *)base[to] + i, sizeof(double), to, &handle);
	}
	ARMCI_Wait(&handle); /* sends what is left */
	ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
	ARMCI_Barrier();
	wrong = ((double *)base[me])[990] != 990;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
