// hello.c - the smallest program a user would write: each rank puts its number at its neighbour and
// checks its own. It is compiled against the installed library only and must not use anything of
// the source tree. SPDX-License-Identifier: BSD-3-Clause
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	if (ARMCI_Init() != 0)
		return 1;
	int me = armci_msg_me(), np = armci_msg_nproc(), next = (me + 1) % np,
	    before = (me + np - 1) % np;
	void **base = malloc(sizeof(void *) * (size_t)np);
	if (base == NULL || ARMCI_Malloc(base, sizeof(int)) != 0)
		ARMCI_Error("no memory", 1);
	ARMCI_PutValueInt(me, base[next], next);
	ARMCI_Barrier();
	if (*(int *)base[me] != before)
		ARMCI_Error("wrong neighbour", *(int *)base[me]);
	ARMCI_Free(base[me]);
	free(base);
	if (me == 0)
		printf("ok hello of %d\n", np);
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
