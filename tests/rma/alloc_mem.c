// SPDX-License-Identifier: BSD-3-Clause
// alloc_mem.c - memory of MPI_Alloc_mem under MPI_Win_create: whole, in part, in several windows,
// used again after the window's end, and given back by MPI_Free_mem.
#include "check.h"

enum { LONGS = 5000 };

// A window over n longs from memory on; the neighbour fills them.
static void window(long *memory, int n, long salt)
{
	MPI_Win win;
	int right = (me + 1) % np, left = (me + np - 1) % np;
	long *data = check_alloc(sizeof(long) * (size_t)n);
	for (int i = 0; i < n; i++) {
		data[i] = salt + 10000L * me + i;
		memory[i] = -1;
	}
	CHECK_MPI(MPI_Win_create(memory, (MPI_Aint)sizeof(long) * n, sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &win));
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
	CHECK_MPI(MPI_Put(data, n, MPI_LONG, right, 0, n, MPI_LONG, win));
	CHECK_MPI(MPI_Win_unlock(right, win));
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
	for (int i = 0; i < n; i++)
		CHECK_INT(memory[i], salt + 10000L * left + i);
	CHECK_MPI(MPI_Win_unlock(me, win));
	CHECK_MPI(MPI_Win_free(&win));
	free(data);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	long *memory, *other;
	char *text;
	MPI_Info info;
	CHECK_MPI(MPI_Info_create(&info));
	CHECK_MPI(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
	CHECK_MPI(MPI_Alloc_mem(LONGS * sizeof(long), MPI_INFO_NULL, &memory));
	CHECK_MPI(MPI_Alloc_mem(LONGS * sizeof(long), info, &other));
	CHECK_MPI(MPI_Info_free(&info));
	CHECK(memory != NULL && other != NULL && memory != other);
	window(memory, LONGS, 1);
	window(memory + 3, 100, 2);
	window(memory + LONGS / 2, LONGS / 2, 3);
	window(other, LONGS, 4);
	CHECK_INT(memory[3], 2 + 10000L * ((me + np - 1) % np)); // memory outlives windows
	CHECK_MPI(MPI_Free_mem(other));
	window(memory, LONGS, 5);
	CHECK_MPI(MPI_Free_mem(memory));
	for (int i = 0; i < 50; i++) { // no window, odd sizes that differ by rank
		CHECK_MPI(MPI_Alloc_mem(1 + 777 * i + me, MPI_INFO_NULL, &text));
		memset(text, i, (size_t)(1 + 777 * i + me));
		CHECK_INT(text[777 * i + me], i);
		CHECK_MPI(MPI_Free_mem(text));
	}
	return check_end("alloc_mem");
}
