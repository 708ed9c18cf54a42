// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of armci_msg_snd and armci_msg_rcv.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	double x = me + 0.5;
	if (me == 0) {
		for (int r = 1; r < np; r++) {
			int bytes;
			armci_msg_rcv(7, &x, sizeof x, &bytes, r);
			wrong |= bytes != sizeof x || x != r + 0.5;
		}
	} else {
		armci_msg_snd(7, &x, sizeof x, 0);
	}
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
