// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of armci_msg_igop.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	double x[2] = {me, 1};
	armci_msg_dgop(x, 2, "+"); /* sums over all ranks, at all ranks */
	int last = me;
	armci_msg_igop(&last, 1, "max");
	wrong = x[1] != np || x[0] != np * (np - 1) / 2 || last != np - 1;
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
