// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Group_create, ARMCI_Group_free, ARMCI_Group_rank,
// ARMCI_Group_size, ARMCI_Malloc_group, ARMCI_Free_group, ARMCI_Absolute_id, ARMCI_GroupFence,
// armci_msg_group_barrier and armci_msg_group_igop.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	int n = (np + 1) / 2, *even = malloc(n * sizeof *even);
	for (int i = 0; i < n; i++)
		even[i] = 2 * i;
	if (me % 2 == 0) { /* the members call it */
		ARMCI_Group group;
		ARMCI_Group_create(n, even, &group);
		void **base = malloc(n * sizeof *base);
		ARMCI_Malloc_group(base, sizeof(int), &group);
		int rank, size, sum = 1;
		ARMCI_Group_rank(&group, &rank);
		ARMCI_Group_size(&group, &size);
		int next = (rank + 1) % size;
		int to = ARMCI_Absolute_id(&group, next); /* operations name ranks of the world */
		ARMCI_PutValueInt(rank, base[next], to);
		ARMCI_GroupFence(&group);
		armci_msg_group_barrier(&group); /* every member's put has arrived */
		wrong = *(int *)base[rank] != (rank + size - 1) % size;
		armci_msg_group_igop(&sum, 1, "+", &group);
		wrong = wrong || sum != size;
		ARMCI_Free_group(base[rank], &group);
		ARMCI_Group_free(&group);
		free(base);
	}
	free(even);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
