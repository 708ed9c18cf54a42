// SPDX-License-Identifier: BSD-3-Clause
// no_memory.c - one rank has no memory for a window: the first, second, third ... call of calloc
// that the library makes there fails, until the window can be made. All ranks get the same error,
// none waits for the others, and a window that is made afterwards works.
#define NOMEMORY_CALLOC
#include "../fault/nomemory.c"

#include "check.h"

enum { MOST = 60, BYTES = 64 };

static char memory[BYTES];

static int make(int kind, MPI_Win *win)
{
	void *base;
	switch (kind) {
	case 0:
		return MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win);
	case 1:
		return MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
	case 2:
		return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win);
	default:
		return MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
	}
}

// Makes a window while the nth call fails at a rank. Returns whether there was such a call.
static int made_without(int kind, int rank, long nth)
{
	MPI_Win win = MPI_WIN_NULL;
	int failed, class, most, least, refused;
	refuse(me == rank ? nth : 0);
	failed = make(kind, &win);
	refused = me == rank && atomic_load(&calls) >= nth;
	refuse(0);
	CHECK_MPI(MPI_Error_class(failed, &class));
	CHECK_MPI(MPI_Allreduce(&class, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
	CHECK_MPI(MPI_Allreduce(&class, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
	CHECK_MPI(MPI_Bcast(&refused, 1, MPI_INT, rank, MPI_COMM_WORLD));
	CHECK_INT(most, least);
	CHECK(most == MPI_SUCCESS || (refused && most == MPI_ERR_NO_MEM));
	CHECK_INT(win == MPI_WIN_NULL, most != MPI_SUCCESS);
	if (!failed)
		CHECK_MPI(MPI_Win_free(&win));
	return refused;
}

// A window that works.
static void use(void)
{
	MPI_Win win;
	long *mine, value = me + 1;
	CHECK_MPI(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, (me + 1) % np, 0, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_INT(*mine, (me + np - 1) % np + 1);
	CHECK_MPI(MPI_Win_free(&win));
}

// An epoch that could not begin, for want of memory, begins when there is some.
static void begin_epochs(void)
{
	int value = 0;
	MPI_Win win;
	MPI_Group all;
	CHECK_MPI(MPI_Comm_group(MPI_COMM_WORLD, &all));
	CHECK_MPI(MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	CHECK_MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	refuse(1);
	CHECK_CLASS(MPI_Win_post(all, 0, win), MPI_ERR_NO_MEM);
	refuse(0);
	CHECK_MPI(MPI_Win_post(all, 0, win));
	refuse(1);
	CHECK_CLASS(MPI_Win_start(all, 0, win), MPI_ERR_NO_MEM);
	refuse(0);
	CHECK_MPI(MPI_Win_start(all, 0, win));
	CHECK_MPI(MPI_Put(&np, 1, MPI_INT, (me + 1) % np, 0, 1, MPI_INT, win));
	CHECK_MPI(MPI_Win_complete(win));
	CHECK_MPI(MPI_Win_wait(win));
	CHECK_INT(value, np);
	CHECK_MPI(MPI_Win_free(&win));
	CHECK_MPI(MPI_Group_free(&all));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	MPI_Comm node = check_node();
	int here;
	CHECK_MPI(MPI_Comm_size(node, &here));
	CHECK_MPI(MPI_Comm_free(&node));
	for (int rank = 0; rank < np; rank += np > 1 ? np - 1 : 1)
		for (int kind = 0; kind < (here == np ? 4 : 3); kind++) {
			long nth = 1;
			while (made_without(kind, rank, nth)) CHECK(++nth < MOST);
			CHECK(check_native() || nth > 8);
			use();
		}
	if (!check_native())
		begin_epochs();
	return check_end("no_memory");
}
