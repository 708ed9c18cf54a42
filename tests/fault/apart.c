// SPDX-License-Identifier: BSD-3-Clause
// apart.c - an MPI program that tells how many processes MPI and ARMCI have: what mistakes.sh
// starts in wrong and in right ways.
//
//	apart [late | after | spawn N]
//
//	late	MPI_Init behind ARMCI_Init
//	after	and MPI_Finalize before ARMCI_Finalize
//	spawn	by MPI_Comm_spawn starts N more, which print
#include <mpi.h>

#include <armci.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void spawn(char *program, int n)
{
	MPI_Comm children;
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	if (MPI_Comm_spawn(program, MPI_ARGV_NULL, n, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
			   MPI_ERRCODES_IGNORE)) {
		printf("cannot spawn\n");
		return;
	}
	MPI_Barrier(children); // a child that ends is not missed
	MPI_Comm_disconnect(&children);
}

// A child's answer to spawn.
static void answer(void)
{
	MPI_Comm parent;
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL)
		return;
	MPI_Barrier(parent);
	MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int mpi = 0, late = !strcmp(how, "late"), after = !strcmp(how, "after");
	if (!late && !after)
		MPI_Init(&argc, &argv);
	ARMCI_Init(); // its return code is ignored, as by many programs
	if (late || after)
		MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &mpi);
	printf("mpi %d armci %d\n", mpi, armci_msg_nproc());
	fflush(stdout);
	if (!strcmp(how, "spawn") && armci_msg_me() == 0)
		spawn(argv[0], atoi(argv[2]));
	answer();
	if (after)
		MPI_Finalize();
	ARMCI_Finalize();
	if (!after)
		MPI_Finalize();
	return 0;
}
