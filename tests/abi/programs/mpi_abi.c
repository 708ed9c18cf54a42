// mpi_abi.c - the ABI of ARMCI-MPI: order of the vector descriptor's fields, groups with the
// communicator first, and the other set of constants, as a program compiled for that library uses
// them. Semantics are tested elsewhere. SPDX-License-Identifier: BSD-3-Clause
#include <armci.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert(offsetof(armci_giov_t, bytes) == 16 && offsetof(armci_giov_t, ptr_array_len) == 20,
	"field order");
_Static_assert(offsetof(ARMCI_Group, comm) == 0 &&
		sizeof(((ARMCI_Group *)0)->comm) == sizeof(MPI_Comm),
	"group");

static int me, np;

static void want(const char *what, long got, long expected)
{
	if (got != expected) {
		fprintf(stderr, "rank %d: %s: %ld, expected %ld\n", me, what, got, expected);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

// Three segments of two ints each: field order wrong means two segments of three.
static void vector(void **base)
{
	int source[6] = { 1, 2, 3, 4, 5, 6 }, peer = (me + 1) % np;
	int *remote = base[peer], *mine = base[me];
	void *from[3] = { source, source + 2, source + 4 };
	void *to[3] = { remote, remote + 4, remote + 8 };
	armci_giov_t segments = { from, to, 2 * sizeof(int), 3 };
	want("ARMCI_PutV", ARMCI_PutV(&segments, 1, peer), 0);
	ARMCI_Barrier();
	for (int i = 0; i < 6; i++)
		want("a segment's value", mine[i / 2 * 4 + i % 2], source[i]);
	ARMCI_Barrier();
}

static void group(void)
{
	ARMCI_Group world, alone;
	int rank = -1, size = 0, one = me;
	ARMCI_Group_get_world(&world);
	MPI_Comm_rank(world.comm, &rank);
	MPI_Comm_size(world.comm, &size);
	want("rank in the world's communicator", rank, me);
	want("size of the world's communicator", size, np);
	ARMCI_Group_create(1, &one, &alone);
	MPI_Comm_size(alone.comm, &size);
	want("size of a communicator of one", size, 1);
	want("its rank 0", ARMCI_Absolute_id(&alone, 0), me);
	ARMCI_Group_free(&alone);
}

static void constants(void **base)
{
	long old = 0, *counter = base[0];
	if (me == 0)
		*counter = 0;
	ARMCI_Barrier();
	want("ARMCI_Rmw", ARMCI_Rmw(1 /* fetch and add, long */, &old, counter, 1, 0), 0);
	ARMCI_Barrier();
	ARMCI_Get(counter, &old, sizeof old, 0);
	want("the counter", old, np);
	double sum = me + 1.0;
	armci_msg_gop_scope(0 /* all */, &sum, 1, "+", 4 /* double */);
	want("the sum", (long)sum, (long)np * (np + 1) / 2);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	want("ARMCI_Init", ARMCI_Init(), 0);
	me = armci_msg_me();
	np = armci_msg_nproc();
	void **base = malloc(sizeof(void *) * (size_t)np);
	if (base == NULL)
		return 1;
	want("ARMCI_Malloc", ARMCI_Malloc(base, 64 * sizeof(int)), 0);
	vector(base);
	group();
	constants(base);
	want("ARMCI_Free", ARMCI_Free(base[me]), 0);
	ARMCI_Finalize();
	MPI_Finalize();
	free(base);
	if (me == 0)
		puts("ok mpi_abi");
	return 0;
}
