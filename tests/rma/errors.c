// SPDX-License-Identifier: BSD-3-Clause
// errors.c - wrong calls with MPI_ERRORS_RETURN: each returns an error of the right class and does
// nothing, and the window can be used afterwards. What an MPI may do without noticing
// (RMA_NATIVE=1) is left out there.
#include "check.h"

static MPI_Win win;
static long *memory; // 16 longs
static long value[32];

// One of two classes.
#define CHECK_EITHER(call, one, other) check_either(__LINE__, #call, (call), (one), (other))

static void check_either(int line, const char *what, int code, int one, int other)
{
	int class = code;
	MPI_Error_class(code, &class);
	if (class != other)
		check_code(__FILE__, line, what, code, one);
}

// What is asked of a target that is locked.
static void arguments(int target)
{
	MPI_Datatype uncommitted, mixed;
	int lengths[] = {1, 1};
	MPI_Aint places[] = {0, 8};
	MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
	CHECK_MPI(MPI_Type_contiguous(2, MPI_LONG, &uncommitted));
	CHECK_MPI(MPI_Type_create_struct(2, lengths, places, types, &mixed));
	CHECK_MPI(MPI_Type_commit(&mixed));
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	CHECK_CLASS(MPI_Put(value, 1, MPI_LONG, np, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Get(value, 1, MPI_LONG, -77, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Put(value, -1, MPI_LONG, target, 0, 1, MPI_LONG, win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Get(value, 1, MPI_LONG, target, 0, -1, MPI_LONG, win), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Put(value, 1, MPI_DATATYPE_NULL, target, 0, 1, MPI_LONG, win),
		MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Put(value, 1, MPI_LONG, target, 0, 1, MPI_DATATYPE_NULL, win),
		MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Put(value, 1, uncommitted, target, 0, 2, MPI_LONG, win), MPI_ERR_TYPE);
	CHECK_CLASS(MPI_Accumulate(value, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_OP_NULL, win),
		MPI_ERR_OP);
	CHECK_CLASS(MPI_Accumulate(value, 1, MPI_LONG, np + 3, 0, 1, MPI_LONG, MPI_SUM, win),
		MPI_ERR_RANK);
	if (!check_native()) {
		CHECK_EITHER(MPI_Put(value, 1, MPI_LONG, target, -1, 1, MPI_LONG, win),
			MPI_ERR_DISP, MPI_ERR_RMA_RANGE);
		CHECK_CLASS(MPI_Accumulate(value, 1, MPI_DOUBLE, target, 0, 1, MPI_DOUBLE, MPI_BAND,
				    win),
			MPI_ERR_OP);
		CHECK_EITHER(MPI_Accumulate(value, 1, mixed, target, 0, 1, mixed, MPI_SUM, win),
			MPI_ERR_TYPE, MPI_ERR_OP);
		CHECK_CLASS(MPI_Compare_and_swap(value, value, value, MPI_DOUBLE, target, 0, win),
			MPI_ERR_TYPE);
		CHECK_CLASS(MPI_Fetch_and_op(value, value, mixed, target, 0, MPI_REPLACE, win),
			MPI_ERR_TYPE);
	}
	CHECK_MPI(MPI_Win_unlock(target, win));
	CHECK_MPI(MPI_Type_free(&uncommitted));
	CHECK_MPI(MPI_Type_free(&mixed));
}

static void user_op(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)in, (void)inout, (void)n, (void)type;
}

// An operator of the program is none for windows.
static void operators(int target)
{
	MPI_Op mine;
	CHECK_MPI(MPI_Op_create(user_op, 1, &mine));
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	CHECK_CLASS(MPI_Accumulate(value, 1, MPI_LONG, target, 0, 1, MPI_LONG, mine, win),
		MPI_ERR_OP);
	CHECK_CLASS(MPI_Fetch_and_op(value, value + 1, MPI_LONG, target, 0, mine, win), MPI_ERR_OP);
	CHECK_MPI(MPI_Win_unlock(target, win));
	CHECK_MPI(MPI_Op_free(&mine));
}

// Beyond the end of a window, by a little and by much, with all kinds of operations.
static void ranges(int target)
{
	MPI_Datatype sparse;
	CHECK_MPI(MPI_Type_vector(2, 1, 16, MPI_LONG, &sparse));
	CHECK_MPI(MPI_Type_commit(&sparse));
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	CHECK_CLASS(MPI_Put(value, 1, MPI_LONG, target, 16, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Put(value, 2, MPI_LONG, target, 15, 2, MPI_LONG, win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Get(value, 17, MPI_LONG, target, 0, 17, MPI_LONG, win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Get(value, 1, MPI_LONG, target, (MPI_Aint)1 << 60, 1, MPI_LONG, win),
		MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Get(value, 2, MPI_LONG, target, 0, 1, sparse, win), MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Accumulate(value, 2, MPI_LONG, target, 15, 2, MPI_LONG, MPI_SUM, win),
		MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Get_accumulate(value, 2, MPI_LONG, value + 8, 2, MPI_LONG, target, 15, 2,
			    MPI_LONG, MPI_SUM, win),
		MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Fetch_and_op(value, value + 1, MPI_LONG, target, 16, MPI_SUM, win),
		MPI_ERR_RMA_RANGE);
	CHECK_CLASS(MPI_Compare_and_swap(value, value + 1, value + 2, MPI_LONG, target, 16, win),
		MPI_ERR_RMA_RANGE);
	MPI_Request request = MPI_REQUEST_NULL;
	CHECK_CLASS(MPI_Rput(value, 2, MPI_LONG, target, 15, 2, MPI_LONG, win, &request),
		MPI_ERR_RMA_RANGE);
	CHECK_MPI(MPI_Win_unlock(target, win));
	CHECK_MPI(MPI_Type_free(&sparse));
}

// Operations without an epoch, epochs that are not open, and those that are open already.
static void epochs(int target)
{
	CHECK_CLASS(MPI_Win_unlock(target, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_flush(target, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Put(value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Fetch_and_op(value, value + 1, MPI_LONG, target, 0, MPI_SUM, win),
		MPI_ERR_RMA_SYNC);
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
	if (np > 1) {
		int other = (target + 1) % np;
		CHECK_CLASS(MPI_Put(value, 1, MPI_LONG, other, 0, 1, MPI_LONG, win),
			MPI_ERR_RMA_SYNC);
		CHECK_CLASS(MPI_Win_unlock(other, win), MPI_ERR_RMA_SYNC);
		CHECK_CLASS(MPI_Win_flush(other, win), MPI_ERR_RMA_SYNC);
	}
	CHECK_MPI(MPI_Win_unlock(target, win));
	CHECK_MPI(MPI_Win_lock_all(0, win));
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_unlock(target, win), MPI_ERR_RMA_SYNC);
	CHECK_MPI(MPI_Win_unlock_all(win));
	CHECK_MPI(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
	CHECK_CLASS(MPI_Put(value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
	CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, 0, win), MPI_ERR_RMA_SYNC);
	CHECK_MPI(MPI_Win_complete(win));
}

// Constants that are none.
static void constants(int target)
{
	CHECK_CLASS(MPI_Win_lock(12345, target, 0, win), MPI_ERR_LOCKTYPE);
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, np, 0, win), MPI_ERR_RANK);
	CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, target, 1 << 30, win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_lock_all(1 << 30, win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_fence(1 << 30, win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, 1 << 30, win), MPI_ERR_ASSERT);
	CHECK_CLASS(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
	MPI_Win none = MPI_WIN_NULL;
	CHECK_CLASS(MPI_Win_fence(0, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Put(value, 1, MPI_LONG, target, 0, 1, MPI_LONG, none), MPI_ERR_WIN);
	CHECK_CLASS(MPI_Win_free(&none), MPI_ERR_WIN);
}

// What a kind of window does not have, and making windows with wrong arguments, the same at every
// rank.
static void kinds(void)
{
	MPI_Win new = MPI_WIN_NULL;
	CHECK_CLASS(MPI_Win_attach(win, value, 8), MPI_ERR_RMA_FLAVOR);
	CHECK_CLASS(MPI_Win_create(value, -8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &new),
		MPI_ERR_SIZE);
	CHECK_EITHER(MPI_Win_create(value, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &new), MPI_ERR_DISP,
		MPI_ERR_ARG);
	CHECK_CLASS(MPI_Win_create(value, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &new), MPI_ERR_COMM);
	CHECK_MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &new));
	CHECK_MPI(MPI_Win_set_errhandler(new, MPI_ERRORS_RETURN));
	CHECK_EITHER(MPI_Win_detach(new, value), MPI_ERR_RMA_ATTACH, MPI_ERR_BASE);
	CHECK_MPI(MPI_Win_free(&new));
}

// The window is as good as new: nothing was written, and it works.
static void still_usable(void)
{
	int right = (me + 1) % np;
	long mine = 5 + me, got = -1;
	barrier();
	for (int i = 0; i < 16 && check_wrong == 0; i++)
		CHECK_INT(memory[i], 100 + i);
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Put(&mine, 1, MPI_LONG, right, 3, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	CHECK_INT(memory[3], 5 + (me + np - 1) % np);
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
	CHECK_MPI(MPI_Get(&got, 1, MPI_LONG, right, 3, 1, MPI_LONG, win));
	CHECK_MPI(MPI_Win_unlock(right, win));
	CHECK_INT(got, mine);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	CHECK_MPI(MPI_Win_allocate(16 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
		&memory, &win));
	CHECK_MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	for (int i = 0; i < 16; i++)
		memory[i] = 100 + i;
	barrier();
	int target = (me + 1) % np;
	arguments(target);
	operators(target);
	if (!check_native()) {
		ranges(target);
		ranges(me);
		epochs(target);
		constants(target);
		kinds();
	}
	still_usable();
	CHECK_MPI(MPI_Win_free(&win));
	return check_end("errors");
}
