// SPDX-License-Identifier: BSD-3-Clause
// leaks.c - memory, mutexes and groups. Without an argument all is given back but a group; with
// "exit" nothing, and the process exits without ARMCI_Finalize, as C++ programs do that an
// exception leaves.
#include <armci.h>
#include <stdlib.h>

static void group_of_all(int np, ARMCI_Group *group)
{
	int *all = malloc((size_t)np * sizeof *all);
	for (int i = 0; i < np; i++) all[i] = i;
	ARMCI_Group_create(np, all, group);
	free(all);
}

int main(int argc, char **argv)
{
	ARMCI_Group kept, freed;
	int value = 1;
	armci_msg_init(&argc, &argv);
	if (ARMCI_Init())
		return 1;
	int me = armci_msg_me(), np = armci_msg_nproc();
	void **base = malloc((size_t)np * sizeof *base);
	ARMCI_Malloc(base, 4096);
	ARMCI_Create_mutexes(1);
	group_of_all(np, &kept);
	group_of_all(np, &freed);
	armci_msg_group_igop(&value, 1, "+", &kept);
	ARMCI_Group_free(&freed);
	void *mine = base[me];
	free(base);
	if (argc > 1)
		exit(value == np ? 0 : 1);
	ARMCI_Destroy_mutexes();
	ARMCI_Free(mine);
	ARMCI_Finalize();
	armci_msg_finalize();
	return value == np ? 0 : 1;
}
