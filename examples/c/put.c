// SPDX-License-Identifier: BSD-3-Clause
// put.c - one-sided transfer: every rank writes into the memory of its right neighbour and reads
// from its left one, and the neighbours do nothing for it. For newcomers.
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), nproc = armci_msg_nproc();
	int right = (me + 1) % nproc, left = (me + nproc - 1) % nproc;

	// Collective: every rank allocates and learns all addresses. Sizes are in bytes.
	void **memory = malloc((size_t)nproc * sizeof *memory);
	ARMCI_Malloc(memory, 2 * sizeof(int));

	// Source here, destination there. On return `mine` may be used again; the neighbour sees
	// the value after the next fence or barrier.
	int mine = 100 + me;
	ARMCI_Put(&mine, memory[right], sizeof mine, right);
	ARMCI_Barrier(); // all puts of all ranks are complete

	int got_put = *(int *)memory[me]; // my own part is ordinary memory
	int got_get;
	ARMCI_Get(memory[left], &got_get, sizeof got_get, left); // source there, destination here

	int right_result = got_put == 100 + left && got_get == 100 + (left + nproc - 1) % nproc;
	printf("rank %d: %d was put here, %d was got from rank %d: %s\n", me, got_put, got_get,
		left, right_result ? "ok" : "WRONG");

	ARMCI_Barrier();
	ARMCI_Free(memory[me]);
	free(memory);
	ARMCI_Finalize();
	armci_msg_finalize();
	return !right_result;
}
