// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of armci_msg_gop_scope, armci_msg_clus_igop, armci_msg_bcast_scope and
// armci_msg_clus_brdcst.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	/* A sum over all ranks by hand: within each node, between their first ranks, and back. */
	int sum = me, root = 0;
	armci_msg_clus_igop(&sum, 1, "+");
	armci_msg_gop_scope(SCOPE_MASTERS, &sum, 1, "+", ARMCI_INT); /* others return at once */
	armci_msg_clus_brdcst(&sum, sizeof sum); /* the same as: */
	armci_msg_bcast_scope(SCOPE_NODE, &sum, sizeof sum, root);
	wrong = sum != np * (np - 1) / 2;
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
