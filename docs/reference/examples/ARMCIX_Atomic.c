// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCIX_Atomic.
#include <armcix.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(long));
	*(long *)base[me] = 0;
	ARMCI_Barrier();
	long bit = 1L << me, old, zero = 0, mine = me + 1;
	ARMCIX_Atomic(ARMCIX_OR, 8, 0, base[0], &bit, 0, 0);     /* sets a bit */
	/* only the first sees zero */
	ARMCIX_Atomic(ARMCIX_CAS, 8, &old, base[np - 1], &mine, &zero, np - 1);
	ARMCI_Barrier();
	wrong = me == 0 && np > 1 && *(long *)base[0] != (1L << np) - 1;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
