// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of armci_notify and armci_notify_wait.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(long));
	int to = (me + 1) % np, from = (me + np - 1) % np, times;
	long value = 10 + me;
	ARMCI_Put(&value, base[to], sizeof value, to);
	armci_notify(to);                /* behind the put */
	armci_notify_wait(from, &times); /* what came before its notification is visible */
	wrong = *(long *)base[me] != 10 + from;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
