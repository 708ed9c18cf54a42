// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCIX_Wait_until, ARMCIX_Wake and ARMCIX_Sleepers.
#include <armcix.h>
#include <stdatomic.h>

static int is_set(void *flag) { return atomic_load((_Atomic long *)flag) != 0; }

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), next = (me + 1) % np;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(long));
	*(long *)base[me] = 0;
	ARMCI_Barrier();
	const unsigned *sleepers = ARMCIX_Sleepers(next); /* null on another node */
	ARMCI_PutValueLong(1, base[next], next);
	if (sleepers && atomic_load((const _Atomic unsigned *)sleepers) != 0)
		ARMCIX_Wake(next);
	int wrong = ARMCIX_Wait_until(is_set, base[me], -1); /* the rank before sets it */
	ARMCI_Barrier();
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
