// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Gpc_exec, ARMCI_Gpc_register, ARMCI_Gpc_release and
// armci_gpc_handler_t.
#include <gpc.h>

static int square(int to, int from, void *hdr, int hlen, void *data, int dlen, void *rhdr,
	int rhlen, int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype)
{
	(void)to, (void)from, (void)hdr, (void)hlen, (void)dlen, (void)rhdr, (void)rhlen,
		(void)rdlen, (void)rtype;
	*(double *)rdata = *(double *)data * *(double *)data;
	*rhsize = 0;
	*rdsize = sizeof(double);
	return GPC_DONE;
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	int number = ARMCI_Gpc_register(square);
	double x = 3, y = 0;
	char none[1];
	/* runs there */
	ARMCI_Gpc_exec(number, (me + 1) % np, none, 0, &x, sizeof x, none, 0, &y, sizeof y, 0);
	wrong = y != 9;
	ARMCI_Barrier(); /* no rank calls it any more */
	ARMCI_Gpc_release(number);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
