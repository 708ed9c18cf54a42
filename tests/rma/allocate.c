// SPDX-License-Identifier: BSD-3-Clause
// allocate.c - MPI_Win_allocate: sizes that differ by member, none among them, alignment, infos,
// and many windows one after another, which must not use up memory.
#include "check.h"

// The bytes of a member's window in a round.
static MPI_Aint bytes_of(int rank, int round)
{
	static const MPI_Aint sizes[] = {64, 0, 4097, 1 << 16, 8, 100000, 1};
	return sizes[(rank + round) % 7];
}

// Every rank fills its left neighbour's window; what it finds in its own must be whole.
static void fill(int round, MPI_Info info)
{
	char *base = NULL;
	MPI_Win win;
	MPI_Aint mine = bytes_of(me, round);
	int left = (me + np - 1) % np, right = (me + 1) % np;
	MPI_Aint theirs = bytes_of(left, round);
	char *data = check_alloc((size_t)theirs), *want = check_alloc((size_t)mine),
	     *got = check_alloc((size_t)theirs);
	CHECK_MPI(MPI_Win_allocate(mine, 1, info, MPI_COMM_WORLD, &base, &win));
	CHECK(mine == 0 || base != NULL);
	if (!check_native()) // MPICH may lay members out one after another
		CHECK_INT((uintptr_t)base % 16, 0);
	if (mine > 0)
		memset(base, 0x55, (size_t)mine);
	check_fill(data, (size_t)theirs, (uint64_t)(100 * round + me));
	check_fill(want, (size_t)mine, (uint64_t)(100 * round + right));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Put(data, (int)theirs, MPI_BYTE, left, 0, (int)theirs, MPI_BYTE, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MEM(base, want, (size_t)mine, "round %d: my window", round);
	CHECK_MPI(MPI_Get(got, (int)theirs, MPI_BYTE, left, 0, (int)theirs, MPI_BYTE, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MEM(got, data, (size_t)theirs, "round %d: what was got", round);
	CHECK_MPI(MPI_Win_free(&win));
	CHECK(win == MPI_WIN_NULL);
	free(data);
	free(want);
	free(got);
}

// Memory of one window is not that of another one, and survives another one's end.
static void several(void)
{
	enum { N = 5, LONGS = 1000 };
	long *base[N];
	MPI_Win win[N];
	for (int i = 0; i < N; i++) {
		CHECK_MPI(MPI_Win_allocate(LONGS * sizeof(long), sizeof(long), MPI_INFO_NULL,
			MPI_COMM_WORLD, &base[i], &win[i]));
		for (int j = 0; j < LONGS; j++)
			base[i][j] = 10000L * i + j;
	}
	CHECK_MPI(MPI_Win_free(&win[1]));
	CHECK_MPI(MPI_Win_free(&win[3]));
	for (int i = 0; i < N; i += 2) {
		for (int j = 0; j < LONGS; j++)
			CHECK_INT(base[i][j], 10000L * i + j);
		CHECK_MPI(MPI_Win_free(&win[i]));
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	MPI_Info info;
	CHECK_MPI(MPI_Info_create(&info));
	CHECK_MPI(MPI_Info_set(info, "alloc_shm", "true"));
	CHECK_MPI(MPI_Info_set(info, "no_such_key_of_mpi", "whatever"));
	for (int round = 0; round < 7; round++)
		fill(round, round % 2 ? info : MPI_INFO_NULL);
	CHECK_MPI(MPI_Info_free(&info));
	several();
	// 40 windows of 8 MiB each: more than small machines have, if none of it is given back.
	for (int i = check_rounds(40); i > 0; i--) {
		char *base;
		MPI_Win win;
		CHECK_MPI(MPI_Win_allocate(8 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
		base[0] = base[(8 << 20) - 1] = (char)i;
		CHECK_MPI(MPI_Win_free(&win));
	}
	return check_end("allocate");
}
