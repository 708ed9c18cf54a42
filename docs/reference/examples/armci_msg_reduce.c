// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of armci_msg_reduce.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	double x[2] = {me, 1};
	armci_msg_reduce(x, 2, "+", ARMCI_DOUBLE); /* only rank 0 may look at x afterwards */
	wrong = me == 0 && (x[0] != np * (np - 1) / 2 || x[1] != np);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
