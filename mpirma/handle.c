// SPDX-License-Identifier: BSD-3-Clause
// The real window behind a program's handle: a window of its MPI without communication.
// Names, attributes, info and error handlers of the program are kept in it. It has no memory of
// ours.
#include "rma.h"

#include <pthread.h>

// A communicator of this process alone, whose errors return: a MPI may refuse one kind of window.
// 0: it cannot be made.
static handle alone(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static handle comm;
	pthread_mutex_lock(&lock);
	if (!comm &&
		(real.Comm_dup(abi.comm_self, &comm) ||
			real.Comm_set_errhandler(comm, abi.errors_return)))
		comm = 0;
	pthread_mutex_unlock(&lock);
	return comm;
}

// MPI has no function that tells whether a datatype is committed. A message to MPI_PROC_NULL is
// refused if it is not.
bool rma_committed(handle type)
{
	handle comm = alone();
	return !comm || real.Send(&comm, 1, type, abi.proc_null, 0, comm) == 0; // nothing is read
}

// MPICH 4.0 ends the program where a window finds no context id, and returns an error where a
// communicator does.
static int context_left(handle comm)
{
	handle another = 0;
	if (abi.flavour == BOOT_MPI_OPEN)
		return 0;
	int failed = real.Comm_dup(comm, &another);
	return failed ? failed : real.Comm_free(&another);
}

// Open MPI 4.1 has no component for MPI_Win_create and MPI_Win_create_dynamic on one process, but
// it can allocate; MPICH can do all.
int rma_real_window(handle info, handle *win)
{
	handle comm = alone();
	void *nothing = NULL;
	*win = 0;
	if (!comm)
		return abi.err_comm;
	int failed = context_left(comm);
	if (failed)
		return failed;
	failed = real.Win_allocate(0, 1, info, comm, &nothing, win);
	if (failed)
		failed = real.Win_allocate_shared(0, 1, info, comm, &nothing, win);
	if (failed)
		failed = real.Win_create(NULL, 0, 1, info, comm, win);
	if (failed)
		failed = real.Win_create_dynamic(info, comm, win);
	return failed;
}
