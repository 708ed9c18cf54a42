// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of armci_msg_bcast.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), wrong = 0;
	struct input {
		int n;
		double tolerance;
	} input = {0, 0};
	if (me == 0) /* reads it from a file, say */
		input = (struct input){1000, 1e-6};
	armci_msg_bcast(&input, sizeof input, 0);
	wrong = input.n != 1000;
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
