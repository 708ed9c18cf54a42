// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_PutS.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	enum { ROWS = 100, COLUMNS = 80 }; /* a matrix of doubles at each rank */
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, ROWS * COLUMNS * sizeof(double));
	double patch[10][20];
	for (int i = 0; i < 10; i++)
		for (int j = 0; j < 20; j++)
			patch[i][j] = 20 * i + j;
	/* Its 10 x 20 elements go to row 30, column 5 of the next rank's matrix. */
	int to = (me + 1) % np, count[2] = {20 * sizeof(double), 10};
	int here = 20 * sizeof(double), there = COLUMNS * sizeof(double);
	ARMCI_PutS(patch, &here, (double *)base[to] + 30 * COLUMNS + 5, &there, count, 1, to);
	ARMCI_Barrier();
	wrong = ((double *)base[me])[39 * COLUMNS + 24] != 199;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
