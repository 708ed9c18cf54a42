// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of armci_msg_sel.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	struct best { /* the element that is compared comes first, what goes with it follows */
		double error;
		int rank, row;
	} best = {1.0 / (me + 1), me, 10 * me};
	/* Afterwards every rank has the struct whose error is the smallest. */
	armci_msg_sel(&best, sizeof best, "min", ARMCI_DOUBLE, 1);
	wrong = best.rank != np - 1 || best.row != 10 * (np - 1);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
