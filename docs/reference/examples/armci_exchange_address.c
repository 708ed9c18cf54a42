// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of armci_exchange_address.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 100 * sizeof(double));
	void **row = calloc(np, sizeof *row); /* the others' entries are null */
	row[me] = (double *)base[me] + 10 * (me % 10); /* each rank chooses a place in its memory */
	armci_exchange_address(row, np);
	int to = (me + 1) % np;
	ARMCI_PutValueDouble(me, row[to], to);
	ARMCI_Barrier();
	wrong = *(double *)row[me] != (me + np - 1) % np;
	free(row);
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
