// SPDX-License-Identifier: BSD-3-Clause
// The example on the pages of ARMCI_Group_create_child, ARMCI_Group_set_default,
// ARMCI_Group_get_default and ARMCI_Group_get_world.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	ARMCI_Group world, lower, before, first;
	ARMCI_Group_get_world(&world);
	int n = (np + 1) / 2, *list = malloc(n * sizeof *list), zero = 0;
	for (int i = 0; i < n; i++)
		list[i] = i;
	ARMCI_Group_create_child(n, list, &lower, &world); /* ranks of world; all may call it */
	if (me < n) {
		ARMCI_Group_get_default(&before);
		ARMCI_Group_set_default(&lower);
		/* a rank of the default group, which is lower */
		ARMCI_Group_create(1, &zero, &first);
		ARMCI_Group_set_default(&before);
		int size;
		ARMCI_Group_size(&lower, &size);
		wrong = size != n;
		if (me == 0)
			ARMCI_Group_free(&first);
		ARMCI_Group_free(&lower);
	}
	free(list);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
