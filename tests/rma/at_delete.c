// SPDX-License-Identifier: BSD-3-Clause
// at_delete.c - windows in delete callbacks of MPI_COMM_SELF, which MPI_Finalize runs first:
// libraries clean up there. Operations, epochs, new windows, locks, MPI_Win_free and MPI_Free_mem
// work, in two callbacks that run in the reverse order of being set.
#include "check.h"

static MPI_Win kept, other;
static int64_t *memory;
static void *allocated;
static int callbacks;

// Every rank puts a value to the right, between two fences.
static void put_around(MPI_Win win, const int64_t *where, int64_t value)
{
	int64_t mine = value + me;
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Put(&mine, 1, MPI_INT64_T, (me + 1) % np, 0, 1, MPI_INT64_T, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_INT(*where, value + (me + np - 1) % np);
}

static void make_and_free(void)
{
	MPI_Win win;
	int64_t *fresh, one = 1, old;
	CHECK_MPI(MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &fresh, &win));
	*fresh = 0;
	barrier();
	CHECK_MPI(MPI_Win_lock_all(0, win));
	CHECK_MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, win));
	CHECK_MPI(MPI_Win_unlock_all(win));
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	CHECK_MPI(MPI_Get(&old, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win));
	CHECK_MPI(MPI_Win_unlock(0, win));
	CHECK_INT(old, np);
	barrier();
	CHECK_MPI(MPI_Win_free(&win));
}

static int delete_last(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	int over = 1;
	CHECK_MPI(MPI_Finalized(&over));
	CHECK_INT(over, 0);
	CHECK_INT(callbacks++, 1);
	CHECK_MPI(MPI_Win_free(&kept));
	CHECK_MPI(MPI_Free_mem(allocated));
	CHECK(kept == MPI_WIN_NULL);
	barrier();
	if (me == 0)
		printf("ok at_delete (%d ranks)\n", np);
	fflush(stdout);
	return MPI_SUCCESS;
}

static int delete_first(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	CHECK_INT(callbacks++, 0);
	put_around(kept, memory, 500);
	put_around(other, allocated, 700);
	if (!check_native()) // MPICH 4.0 itself is wrong there
		make_and_free();
	CHECK_MPI(MPI_Win_free(&other));
	return MPI_SUCCESS;
}

static void at_finalize(MPI_Comm_delete_attr_function *f)
{
	int keyval;
	CHECK_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, f, &keyval, NULL));
	CHECK_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL));
	CHECK_MPI(MPI_Comm_free_keyval(&keyval));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	MPI_Comm copy;
	CHECK_MPI(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &kept));
	CHECK_MPI(MPI_Alloc_mem(1000, MPI_INFO_NULL, &allocated));
	CHECK_MPI(MPI_Win_create(allocated, 1000, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
	at_finalize(delete_last);
	at_finalize(delete_first);
	CHECK_MPI(MPI_Comm_dup(MPI_COMM_SELF, &copy)); // to free a copy ends nothing
	CHECK_MPI(MPI_Comm_free(&copy));
	put_around(kept, memory, 300);
	MPI_Finalize();
	return callbacks == 2 ? 0 : 1; // the callbacks have checked all else
}
