// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of armci_msg_bintree.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	/* A sum up the tree: each rank adds what its children send. */
	int root, up, left, right, sum = me, part;
	armci_msg_bintree(SCOPE_ALL, &root, &up, &left, &right);
	if (left >= 0) {
		armci_msg_rcv(1, &part, sizeof part, NULL, left);
		sum += part;
	}
	if (right >= 0) {
		armci_msg_rcv(1, &part, sizeof part, NULL, right);
		sum += part;
	}
	if (up >= 0)
		armci_msg_snd(1, &sum, sizeof sum, up);
	wrong = me == root && sum != np * (np - 1) / 2;
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
