// SPDX-License-Identifier: BSD-3-Clause
// A program that has asked its MPI for MPI_THREAD_SERIALIZED may be in MPI on one thread while
// another one waits in this library, which must not call MPI then.
#include "check.h"

#if __has_include(<mpi.h>)
#include <mpi.h>
#include <unistd.h>

static int looks;

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	looks++;
	return PMPI_Iprobe(source, tag, comm, flag, status);
}

int main(int argc, char **argv)
{
	int level;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
	check_begin(&argc, &argv);
	if (level != MPI_THREAD_SERIALIZED)
		check_skip("the MPI has another level");
	ARMCI_Barrier();
	if (me == 0)
		usleep(200000);
	ARMCI_Barrier();
	if (level == MPI_THREAD_SERIALIZED)
		CHECK_INT(looks, 0);
	return check_end("serialized");
}
#else
int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	check_skip("no MPI");
	return check_end("serialized");
}
#endif
