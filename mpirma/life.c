// SPDX-License-Identifier: BSD-3-Clause
// The library starts in MPI_Init and ends in MPI_Finalize, both collective over MPI_COMM_WORLD. If
// it cannot start, the reason is printed and every call passes through to the MPI. A process that
// does not find the others of its job ends.
//
// MPI_Finalize begins with the delete callbacks of MPI_COMM_SELF, last set first, and a program may
// use and free windows and memory in them. The library therefore ends in a callback of its own,
// which is set first and so runs last.
#include "create.h"

#include <stdio.h>
#include <stdlib.h>

#include "_cgo_export.h"

struct rma_job job;
static _Atomic int tried;
static bool ends_in_callback;

// Called by Go when the library has started.
void life_open(int me, int fast, int vm)
{
	job.me = me;
	job.fast = fast;
	job.vm = vm;
	job.stripes = (struct k_stripes){.word = shm_stripes(),
		.mask = shm.head->stripes - 1,
		.pitch_words = SHM_LINE / 4,
		.owner = (uint32_t)me + 1,
		.device = shm.head->device};
	atomic_store(&job.running, 1);
}

// Called by Go before life_open.
void life_share(int words, int ranks, struct traffic *traffic, void *reserve)
{
	job.words = words;
	job.ranks = ranks;
	job.reserve = reserve;
	job.traffic = traffic;
}

// Ends the library. Windows and memory that the program has kept are gone; their handles are the
// MPI's from here on.
static void stop(void)
{
	if (!atomic_exchange(&job.running, 0))
		return;
	rma_may_wait();
	rma_forget_windows();
	job.arena = (uintptr_t)shm.base;
	job.arena_bytes = shm.bytes;
	mpirmago_stop();
}

static int stop_at_delete(handle comm, int keyval, void *value, void *extra)
{
	stop();
	return RMA_OK;
}

// A duplicate of MPI_COMM_SELF does not inherit the attribute: freeing it must not end the library.
static int copy_nothing(handle comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	*flag = 0;
	return RMA_OK;
}

// Arranges for the end; false: the MPI refuses.
static bool stop_at_end(void)
{
	int keyval = 0;
	if (real.Comm_create_keyval(copy_nothing, stop_at_delete, &keyval, NULL))
		return false;
	bool set = real.Comm_set_attr(abi.comm_self, keyval, NULL) == RMA_OK;
	real.Comm_free_keyval(&keyval); // the MPI keeps it as long as the attribute
	return set;
}

static void start(void)
{
	if (atomic_exchange(&tried, 1))
		return;
	if (mpirmago_start()) {
		real.Finalize(); // of an MPI with one process
		exit(EXIT_FAILURE);
	}
	if (atomic_load(&job.running))
		ends_in_callback = stop_at_end();
}

void rma_start(handle comm)
{
	int running = 0, over = 0, n = 0, all = 0;
	if (atomic_load_explicit(&tried, memory_order_relaxed) || !abi_open() ||
		comm == abi.comm_null)
		return;
	if (real.Initialized(&running) || !running || real.Finalized(&over) || over)
		return;
	if (!real.Comm_size(comm, &n) && !real.Comm_size(abi.comm_world, &all) && n == all)
		start();
}

// For libarmci in the same process (internal/bootstrap/mpi_abi.c), which must not take this library
// for an MPI.
PUBLIC int libarmci_mpirma_has_mpi(void) { return abi_open(); }
// For the same: a function or object of the MPI behind this library, which others may not see.
PUBLIC void *libarmci_mpirma_mpi_symbol(const char *name) { return real_symbol(name); }

// A program that gets here without a known MPI behind this library cannot be helped.
static int no_mpi(const char *function)
{
	const char *unknown = abi_unknown();
	if (*unknown)
		fprintf(stderr,
			"libarmci-mpirma: %s: the MPI behind this library (\"%s\") is none that it "
			"knows: " BOOT_MPI_KNOWN "\n",
			function, unknown);
	else
		fprintf(stderr,
			"libarmci-mpirma: %s: there is no MPI behind this library that it knows: "
			BOOT_MPI_KNOWN "\n",
			function);
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
	if (!ends_in_callback)
		stop();
	return real.Finalize();
}
RMA_ALIAS(Finalize)

void rma_passed_through(handle comm)
{
	int me;
	if (atomic_load(&job.running) && real.Comm_rank(comm, &me) == 0 && me == 0)
		mpirmago_passed_through();
}
