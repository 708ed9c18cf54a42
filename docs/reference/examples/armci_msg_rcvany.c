// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of armci_msg_rcvany.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	int sum = 0, result;
	if (me == 0) { /* takes results in the order in which they come */
		for (int i = 1; i < np; i++) {
			int from = armci_msg_rcvany(1, &result, sizeof result, NULL);
			wrong = wrong || result != from * from;
			sum += result;
		}
		wrong = wrong || sum != (np - 1) * np * (2 * np - 1) / 6;
	} else {
		result = me * me;
		armci_msg_snd(1, &result, sizeof result, 0);
	}
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
