// SPDX-License-Identifier: BSD-3-Clause
// The operations of an MPI, for what ours are held against, and its start: a plain MPI program with
// nothing of the library in it. epochs.c has those of windows, over which ours may be preloaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "epochs.h"
#include "from.h"
#include "waits.h"

enum { TAG = 1 };

static char *mine, *other;

void flavour_start(int *argc, char ***argv, const char *build)
{
	if (build) // ours is preloaded, and so has the windows
		bench_must_be_from(dlsym(RTLD_DEFAULT, "MPI_Win_allocate"), build);
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	mine = touched(WAITS_MOST);
	other = touched(WAITS_MOST);
}

void flavour_end(void)
{
	epochs_end();
	alarm(5); // MPICH 4.0 over UCX may hang between hosts in what follows
	MPI_Finalize();
}

void flavour_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

double flavour_greatest(double x)
{
	MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return x;
}

void flavour_gather(double *from, int n, double *to)
{
	MPI_Gather(from, n, MPI_DOUBLE, to, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

TIMING_LOOP(barrier, true, MPI_Barrier(MPI_COMM_WORLD))
TIMING_LOOP(bcast, true, MPI_Bcast(mine, size, MPI_BYTE, (int)(i % ranks), MPI_COMM_WORLD))
TIMING_LOOP(sum, true, MPI_Allreduce(mine, other, size / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))

static void send_message(void) { MPI_Send(mine, size, MPI_BYTE, peer(), TAG, MPI_COMM_WORLD); }

static void receive_message(void)
{
	MPI_Recv(other, size, MPI_BYTE, peer(), TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

const struct operation operations[] = {
	{.name = "barrier", .run = barrier},
	{.name = "bcast", .run = bcast},
	{.name = "sum", .run = sum},
	{.name = "message", .pairs = true, .trip = true, .send = send_message,
		.receive = receive_message},
	{.name = "one-way", .pairs = true, .send = send_message, .receive = receive_message},
	{.name = "lock", .lock = window_lock, .unlock = window_unlock},
	{.name = "epoch", .run = epochs},
	{.name = "origins", .run = origins},
	{.name = NULL},
};
