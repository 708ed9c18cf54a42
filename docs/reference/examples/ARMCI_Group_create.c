// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_Group_create.
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
		int rank, sum = 1;
		ARMCI_Group_rank(&group, &rank);
		armci_msg_group_igop(&sum, 1, "+", &group);
		wrong = sum != n || rank != me / 2;
		ARMCI_Free_group(base[rank], &group);
		ARMCI_Group_free(&group);
		free(base);
	}
	free(even);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
