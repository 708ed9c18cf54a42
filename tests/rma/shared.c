// SPDX-License-Identifier: BSD-3-Clause
// shared.c - MPI_Win_allocate_shared and MPI_Win_shared_query: memory of the ranks of a node in one
// piece or in several, loads and stores by others ordered by MPI_Win_sync, together with
// operations; refused where memory is not shared.
#include "check.h"

static MPI_Comm node;
static int here, n;

// The ints of a member; none at member 1.
static int ints_of(int rank)
{
	return rank == 1 ? 0 : 10 + rank;
}

static void wait_all(MPI_Win win)
{
	CHECK_MPI(MPI_Win_sync(win));
	CHECK_MPI(MPI_Barrier(node));
	CHECK_MPI(MPI_Win_sync(win));
}

// Everyone stores into everyone's memory, and reads what the others have stored.
static void load_store(MPI_Win win, int *base, int contiguous)
{
	int *member[64];
	MPI_Aint size;
	int unit;
	for (int r = 0; r < n; r++) {
		CHECK_MPI(MPI_Win_shared_query(win, r, &size, &unit, &member[r]));
		if (contiguous || !check_native()) // Open MPI 4.1 rounds it up to pages
			CHECK_INT(size, (int)sizeof(int) * ints_of(r));
		CHECK_INT(unit, sizeof(int));
	}
	CHECK(ints_of(here) == 0 || member[here] == base);
	int *first;
	CHECK_MPI(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &first));
	CHECK(first == member[0]);
	if (contiguous || !check_native())
		CHECK_INT(size, (int)sizeof(int) * ints_of(0));
	for (int r = 0, at = 0; contiguous && r < n; at += ints_of(r), r++)
		CHECK(ints_of(r) == 0 || member[r] == first + at);
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int r = 0; r < n; r++) {
		for (int i = here; i < ints_of(r); i += n)
			member[r][i] = 100 * r + i;
	}
	wait_all(win);
	for (int r = 0; r < n; r++) {
		for (int i = 0; i < ints_of(r); i++)
			CHECK_INT(member[r][i], 100 * r + i);
	}
	wait_all(win);
	// Operations and stores meet in the same memory.
	int one = 1, old = -1;
	CHECK_MPI(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 3, MPI_SUM, win));
	CHECK_MPI(MPI_Win_flush(0, win));
	CHECK(old >= 3 && old < 3 + n);
	wait_all(win);
	CHECK_INT(member[0][3], 3 + n);
	CHECK_MPI(MPI_Win_unlock_all(win));
}

static void windows(const char *key)
{
	MPI_Info info;
	MPI_Win win;
	int *base = NULL;
	CHECK_MPI(MPI_Info_create(&info));
	if (key)
		CHECK_MPI(MPI_Info_set(info, key, "true"));
	CHECK_MPI(MPI_Win_allocate_shared((MPI_Aint)sizeof(int) * ints_of(here), sizeof(int), info,
		node, &base, &win));
	CHECK_MPI(MPI_Info_free(&info));
	int *flavor, flag;
	CHECK_MPI(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
	CHECK(flag && *flavor == MPI_WIN_FLAVOR_SHARED);
	load_store(win, base, key == NULL);
	CHECK_MPI(MPI_Win_free(&win));
}

// A flag and data: the reader polls with MPI_Win_sync until the flag is there, then the data must
// be there.
static void message(void)
{
	volatile int *base;
	MPI_Win win;
	MPI_Aint size;
	int unit;
	CHECK_MPI(MPI_Win_allocate_shared(here == 0 ? 2 * sizeof(int) : 0, sizeof(int),
		MPI_INFO_NULL, node, &base, &win));
	CHECK_MPI(MPI_Win_shared_query(win, 0, &size, &unit, &base));
	if (here == 0)
		base[0] = base[1] = 0;
	CHECK_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
	wait_all(win);
	if (here == n - 1) {
		base[0] = 4711;
		CHECK_MPI(MPI_Win_sync(win));
		base[1] = 1;
	}
	do
		CHECK_MPI(MPI_Win_sync(win));
	while (base[1] == 0);
	CHECK_INT(base[0], 4711);
	CHECK_MPI(MPI_Win_unlock_all(win));
	CHECK_MPI(MPI_Win_free(&win));
}

// All ranks of the job, on several hosts.
static void refused(void)
{
	int *base;
	MPI_Win win;
	MPI_Errhandler before;
	CHECK_MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before));
	CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	CHECK(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) !=
		MPI_SUCCESS);
	CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, before));
	CHECK_MPI(MPI_Errhandler_free(&before));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	node = check_node();
	MPI_Comm_rank(node, &here);
	MPI_Comm_size(node, &n);
	CHECK(n <= 64);
	windows(NULL);
	windows("alloc_shared_noncontig");
	message();
	if (n < np && !check_native() && !getenv("ARMCI_NODE"))
		refused();
	CHECK_MPI(MPI_Comm_free(&node));
	return check_end("shared");
}
