// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Gpc_wait and ARMCI_Gpc_init_handle.
#include <gpc.h>

static int answer(int to, int from, void *hdr, int hlen, void *data, int dlen, void *rhdr,
	int rhlen, int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype)
{
	(void)from, (void)hdr, (void)hlen, (void)data, (void)dlen, (void)rhdr, (void)rhlen,
		(void)rdlen, (void)rtype;
	*(int *)rdata = to;
	*rhsize = 0;
	*rdsize = sizeof(int);
	return GPC_DONE;
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int np = armci_msg_nproc(), wrong = 0;
	int number = ARMCI_Gpc_register(answer), *reply = malloc(np * sizeof *reply);
	gpc_hdl_t *handle = malloc(np * sizeof *handle);
	char none[1];
	for (int r = 0; r < np; r++) { /* calls of all ranks at the same time */
		ARMCI_Gpc_init_handle(&handle[r]);
		ARMCI_Gpc_exec(number, r, none, 0, none, 0, none, 0, &reply[r], sizeof(int),
			&handle[r]);
	}
	for (int r = 0; r < np; r++) {
		ARMCI_Gpc_wait(&handle[r]); /* reply[r] is here */
		wrong = wrong || reply[r] != r;
	}
	ARMCI_Barrier();
	ARMCI_Gpc_release(number);
	free(handle);
	free(reply);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
