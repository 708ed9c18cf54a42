// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Put and ARMCI_Barrier.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(long));
	long value = 100 + me;
	int to = (me + 1) % np;
	ARMCI_Put(&value, base[to], sizeof value, to);
	value = 0;       /* the source may be reused at once */
	ARMCI_Barrier(); /* every store of every rank is visible now */
	wrong = *(long *)base[me] != 100 + (me + np - 1) % np;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
