// SPDX-License-Identifier: BSD-3-Clause
// nonblocking.c - transfer and computation overlap: the next block is on its way while the last one
// is summed. For newcomers.
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 10000, BLOCKS = 20 };

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), nproc = armci_msg_nproc(), from = (me + 1) % nproc;

	void **memory = malloc((size_t)nproc * sizeof *memory);
	ARMCI_Malloc(memory, (armci_size_t)(BLOCKS * BLOCK * sizeof(double)));
	for (int i = 0; i < BLOCKS * BLOCK; i++)
		((double *)memory[me])[i] = me + 1;
	ARMCI_Barrier();

	// Two buffers: one arrives while the other one is in use.
	static double buffer[2][BLOCK];
	double *remote = memory[from], sum = 0;
	armci_hdl_t handle[2];
	ARMCI_INIT_HANDLE(&handle[0]);
	ARMCI_INIT_HANDLE(&handle[1]);
	ARMCI_NbGet(remote, buffer[0], sizeof buffer[0], from, &handle[0]);
	for (int b = 0; b < BLOCKS; b++) {
		int now = b % 2, next = 1 - now;
		if (b + 1 < BLOCKS)
			ARMCI_NbGet(remote + (b + 1) * BLOCK, buffer[next], sizeof buffer[next],
				from, &handle[next]);
		ARMCI_Wait(&handle[now]); // the data of this block has arrived
		for (int i = 0; i < BLOCK; i++)
			sum += buffer[now][i];
	}

	int wrong = sum != (double)BLOCKS * BLOCK * (from + 1);
	printf("rank %d: the numbers of rank %d sum up to %.0f: %s\n", me, from, sum,
		wrong ? "WRONG" : "ok");

	ARMCI_Barrier();
	ARMCI_Free(memory[me]);
	free(memory);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
