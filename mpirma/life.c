// SPDX-License-Identifier: BSD-3-Clause
// The library starts in MPI_Init and ends in MPI_Finalize, both collective over MPI_COMM_WORLD. If it cannot start, the reason is
// printed and every call passes through to the MPI. A process that does not find the others of its
// job ends.
#include "create.h"

#include <stdio.h>
#include <stdlib.h>

#include "_cgo_export.h"

struct rma_job job;
static _Atomic int tried;

// Called by Go when the library has started.
void life_open(int me, int fast, int vm)
{
	job.me = me;
	job.fast = fast;
	job.vm = vm;
	job.stripes = (struct k_stripes){.word = shm_stripes(), .mask = shm.head->stripes - 1, .pitch_words = SHM_LINE / 4,
		.owner = (uint32_t)me + 1, .device = shm.head->device};
	atomic_store(&job.running, 1);
}

static void start(void)
{
	if (atomic_exchange(&tried, 1) || !mpirmago_start())
		return;
	real.Finalize(); // of an MPI with one process
	exit(EXIT_FAILURE);
}

void rma_start(handle comm)
{
	int running = 0, over = 0, n = 0, all = 0;
	if (atomic_load_explicit(&tried, memory_order_relaxed) || !abi_open() || comm == abi.comm_null)
		return;
	if (real.Initialized(&running) || !running || real.Finalized(&over) || over)
		return;
	if (!real.Comm_size(comm, &n) && !real.Comm_size(abi.comm_world, &all) && n == all)
		start();
}

// For libarmci in the same process (internal/bootstrap/mpi_abi.c), which must not take this library for an MPI.
PUBLIC int libarmci_mpirma_has_mpi(void) { return abi_open(); }

// A program that gets here without an MPI behind this library cannot be helped.
static int no_mpi(const char *function)
{
	fprintf(stderr, "libarmci-mpirma: %s: there is no MPI behind this library: neither Open MPI nor one of the MPICH family\n", function);
	return 1;
}

PUBLIC int PMPI_Init(int *argc, char ***argv)
{
	if (!abi_open())
		return no_mpi("MPI_Init");
	int failed = real.Init(argc, argv);
	if (!failed)
		start();
	return failed;
}
RMA_ALIAS(Init)

PUBLIC int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	if (!abi_open())
		return no_mpi("MPI_Init_thread");
	int failed = real.Init_thread(argc, argv, required, provided);
	if (!failed)
		start();
	return failed;
}
RMA_ALIAS(Init_thread)

PUBLIC int PMPI_Finalize(void)
{
	if (!abi_open())
		return no_mpi("MPI_Finalize");
	if (atomic_exchange(&job.running, 0))
		mpirmago_stop();
	return real.Finalize();
}
RMA_ALIAS(Finalize)

void rma_passed_through(void)
{
	if (atomic_load(&job.running))
		mpirmago_passed_through();
}
