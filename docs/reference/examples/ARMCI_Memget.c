// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Memget, ARMCI_Memat, ARMCI_Memdt and ARMCI_Memctl.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), wrong = 0;
	armci_meminfo_t info;
	if (me == 0) { /* alone: not collective */
		ARMCI_Memget(sizeof(long), &info, 0);
		*(long *)info.addr = 42;
	}
	armci_msg_bcast(&info, sizeof info, 0); /* the others learn where it is */
	long value;
	ARMCI_Get(ARMCI_Memat(&info, 0), &value, sizeof value, info.cpid);
	wrong = value != 42;
	if (me != 0)
		ARMCI_Memdt(&info, 0);
	ARMCI_Barrier(); /* no rank uses it any more */
	ARMCI_Memctl(&info);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
