// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_AccS.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, 100 * 80 * sizeof(double));
	double *mine = base[me], patch[10][20], scale = 0.5;
	for (int i = 0; i < 100 * 80; i++)
		mine[i] = 0;
	for (int i = 0; i < 10; i++)
		for (int j = 0; j < 20; j++)
			patch[i][j] = 2;
	ARMCI_Barrier();
	/* Every rank adds 0.5 times its 10 x 20 elements to row 30, column 5 of rank 0's matrix. */
	double *there = (double *)base[0] + 30 * 80 + 5;
	int count[2] = {20 * sizeof(double), 10}, from = 20 * sizeof(double),
	    to = 80 * sizeof(double);
	ARMCI_AccS(ARMCI_ACC_DBL, &scale, patch, &from, there, &to, count, 1, 0);
	ARMCI_Barrier();
	wrong = me == 0 && (mine[39 * 80 + 24] != np || mine[39 * 80 + 25] != 0);
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
