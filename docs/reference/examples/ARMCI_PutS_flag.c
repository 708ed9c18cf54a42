// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_PutS_flag.
#include <armci.h>

struct box {
	double matrix[100][80];
	int flag;
};

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	void **base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(struct box));
	struct box *mine = base[me], *its = base[(me + 1) % np];
	mine->flag = 0;
	ARMCI_Barrier();
	double patch[10][20] = {{0}};
	patch[9][19] = 7;
	int count[2] = {20 * sizeof(double), 10}, here = 20 * sizeof(double),
	    there = 80 * sizeof(double);
	ARMCI_PutS_flag(patch, &here, &its->matrix[30][5], &there, count, 1, &its->flag, 1,
		(me + 1) % np);
	while (__atomic_load_n(&mine->flag, __ATOMIC_ACQUIRE) == 0)
		; /* all rows are here when the flag is */
	wrong = mine->matrix[39][24] != 7;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
