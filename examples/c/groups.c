// SPDX-License-Identifier: BSD-3-Clause
// groups.c - a part of the job works on its own: the even and the odd ranks form groups with memory
// and sums of their own. For newcomers; note which numbers are ranks in the group and which in the
// whole job.
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), nproc = armci_msg_nproc();

	// The members, in ascending order. Each half names its own.
	int *members = malloc((size_t)nproc * sizeof *members), n = 0;
	for (int r = me % 2; r < nproc; r += 2)
		members[n++] = r;
	ARMCI_Group group;
	ARMCI_Group_create(n, members, &group);

	int rank, size;
	ARMCI_Group_rank(&group, &rank); // my rank in the group
	ARMCI_Group_size(&group, &size);

	// Addresses come in the order of the group ...
	void **memory = malloc((size_t)size * sizeof *memory);
	ARMCI_Malloc_group(memory, sizeof(int), &group);
	// ... but transfers name ranks of the whole job.
	int right = (rank + 1) % size;
	ARMCI_Put(&me, memory[right], sizeof me, ARMCI_Absolute_id(&group, right));
	ARMCI_AllFence();
	armci_msg_group_barrier(&group);

	int left = *(int *)memory[rank], sum = me;
	armci_msg_group_igop(&sum, 1, "+", &group);
	int expected = 0;
	for (int i = 0; i < n; i++)
		expected += members[i];
	int wrong = sum != expected || left != members[(rank + size - 1) % size];
	printf("rank %d is number %d of %d in its group, left of it is rank %d, the sum of ranks "
	       "is %d: %s\n",
		me, rank, size, left, sum, wrong ? "WRONG" : "ok");

	armci_msg_group_barrier(&group);
	ARMCI_Free_group(memory[rank], &group);
	ARMCI_Group_free(&group);
	free(memory);
	free(members);
	ARMCI_Barrier();
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
