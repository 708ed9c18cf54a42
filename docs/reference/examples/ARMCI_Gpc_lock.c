// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Gpc_lock, ARMCI_Gpc_trylock, ARMCI_Gpc_translate and
// ARMCI_Get_gpc_hlen.
#include <gpc.h>

/* Appends the data of the call to a list in the target's memory, whose address the header has. */
static int append(int to, int from, void *hdr, int hlen, void *data, int dlen, void *rhdr,
	int rhlen, int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype)
{
	(void)from, (void)hlen, (void)dlen, (void)rhdr, (void)rhlen, (void)rdata, (void)rdlen,
		(void)rtype;
	long *list = ARMCI_Gpc_translate(*(void **)hdr, to, from);
	ARMCI_Gpc_lock(to); /* handlers of other callers run at the same time */
	list[++list[0]] = *(long *)data;
	ARMCI_Gpc_unlock(to);
	*rhsize = *rdsize = 0;
	return GPC_DONE;
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, (np + 1) * sizeof(long));
	int number = ARMCI_Gpc_register(append);
	char none[1];
	long *mine = base[me], value = me;
	*mine = 0;
	ARMCI_Barrier();
	if ((int)sizeof base[0] < ARMCI_Get_gpc_hlen() && (int)sizeof value < ARMCI_Get_gpc_dlen())
		ARMCI_Gpc_exec(number, 0, &base[0], sizeof base[0], &value, sizeof value, none, 0,
			none, 0, NULL);
	if (me == 0 && ARMCI_Gpc_trylock(0)) { /* the program's own threads take it like handlers */
		wrong = mine[0] < 1 || mine[0] > np;
		ARMCI_Gpc_unlock(0);
	}
	ARMCI_Barrier();
	wrong = wrong || (me == 0 && mine[0] != np);
	ARMCI_Gpc_release(number);
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
