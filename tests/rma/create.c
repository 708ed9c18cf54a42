// SPDX-License-Identifier: BSD-3-Clause
// create.c - MPI_Win_create: over memory of the heap, of the stack and of the program's data, with
// members without memory, and a displacement unit of its own at each member; two windows over the
// same memory, and windows over memory of former ones. It puts only as much as shows that the right
// bytes are reached.
#include "check.h"

#include <sys/mman.h>

static int global[64];

// The displacement unit of a rank.
static int unit_of(int rank)
{
	static const int units[] = {1, 4, 2, 8};
	return units[rank % 4];
}

// Members of odd rank may have no memory.
static int has_memory(int rank, int holes)
{
	return !holes || rank % 2 == 0;
}

// Every rank puts a number into its own two ints at each member that has memory; all must arrive,
// between guards.
static void exchange(const char *kind, int *memory, int holes)
{
	int slots = 2 * np;
	MPI_Win win = MPI_WIN_NULL;
	int mine = has_memory(me, holes);
	for (int i = 0; mine && i < slots; i++)
		memory[i] = -1;
	CHECK_MPI(MPI_Win_create(mine ? memory : NULL, mine ? (MPI_Aint)sizeof(int) * slots : 0,
		unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	CHECK(win != MPI_WIN_NULL);
	CHECK_MPI(MPI_Win_fence(0, win));
	for (int t = 0; t < np; t++) {
		int value[2] = {1000 * me + t, -1000 * me - t};
		if (has_memory(t, holes))
			CHECK_MPI(MPI_Put(value, 2, MPI_INT, t,
				(MPI_Aint)sizeof(int) * 2 * me / unit_of(t), 2, MPI_INT, win));
		CHECK_MPI(MPI_Win_fence(0, win)); // value is on the stack
	}
	for (int s = 0; mine && s < np; s++) {
		if (memory[2 * s] != 1000 * s + me || memory[2 * s + 1] != -1000 * s - me)
			check_fail(__FILE__, __LINE__, "%s: rank %d has put %d %d, expected %d %d",
				kind, s, memory[2 * s], memory[2 * s + 1], 1000 * s + me,
				-1000 * s - me);
	}
	CHECK_MPI(MPI_Win_free(&win));
	CHECK(win == MPI_WIN_NULL);
}

// A window may begin in the middle of memory: what is around it is not touched.
static void part_of_memory(void)
{
	char *memory = check_alloc(4096), *want = check_alloc(4096);
	MPI_Win win;
	check_fill(memory, 4096, 1);
	check_fill(want, 4096, 1);
	CHECK_MPI(MPI_Win_create(memory + 13, 100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	CHECK_MPI(MPI_Win_fence(0, win));
	char data[100];
	check_fill(data, 100, 2);
	if (me == 0)
		CHECK_MPI(MPI_Put(data, 100, MPI_CHAR, np - 1, 0, 100, MPI_CHAR, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	if (me == np - 1)
		memcpy(want + 13, data, 100);
	CHECK_MEM(memory, want, 4096, "memory around a window");
	CHECK_MPI(MPI_Win_free(&win));
	free(memory);
	free(want);
}

// Two windows over the same memory, with different units; each is used for its own half.
static void overlapping(void)
{
	long memory[16] = {0};
	MPI_Win bytes, longs;
	CHECK_MPI(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bytes));
	CHECK_MPI(MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
		&longs));
	int right = (me + 1) % np, left = (me + np - 1) % np;
	long low = 10 + me, high = 20 + me;
	CHECK_MPI(MPI_Win_fence(0, bytes));
	CHECK_MPI(MPI_Put(&low, 1, MPI_LONG, right, 3 * sizeof(long), 1, MPI_LONG, bytes));
	CHECK_MPI(MPI_Win_fence(0, bytes));
	CHECK_MPI(MPI_Win_fence(0, longs));
	CHECK_MPI(MPI_Put(&high, 1, MPI_LONG, right, 11, 1, MPI_LONG, longs));
	CHECK_MPI(MPI_Win_fence(0, longs));
	for (int i = 0; i < 16; i++)
		CHECK_INT(memory[i], i == 3 ? 10 + left : i == 11 ? 20 + left : 0);
	CHECK_MPI(MPI_Win_free(&bytes));
	CHECK_MPI(MPI_Win_free(&longs));
}

// A dense put and a get of rows, which travel as they like; what arrived must be what was sent.
static void use(char *memory, int bytes, MPI_Win win, unsigned seed)
{
	int right = (me + 1) % np, left = (me + np - 1) % np;
	char *data = check_alloc((size_t)bytes), *want = check_alloc((size_t)bytes),
	     *got = check_alloc((size_t)bytes);
	MPI_Datatype rows;
	CHECK_MPI(MPI_Type_vector(bytes / 32, 16, 32, MPI_CHAR, &rows));
	CHECK_MPI(MPI_Type_commit(&rows));
	memset(got, 0, (size_t)bytes);
	memset(data, 0, (size_t)bytes);
	memset(want, 0, (size_t)bytes);
	check_fill(data, bytes, seed + (unsigned)me);
	check_fill(want, bytes, seed + (unsigned)left);
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Put(data, bytes, MPI_CHAR, right, 0, bytes, MPI_CHAR, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MEM(memory, want, (size_t)bytes, "window of seed %u", seed);
	CHECK_MPI(MPI_Get(got, 1, rows, right, 0, 1, rows, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	for (int i = 0; i < bytes / 32; i++)
		CHECK_MEM(got + 32 * i, data + 32 * i, 16, "row %d, seed %u", i, seed);
	CHECK_MPI(MPI_Type_free(&rows));
	free(data);
	free(want);
	free(got);
}

// Windows come and go over the same addresses, some of them over each other, and between them the
// memory is mapped anew: what an origin knows of a window that was freed must not be used.
static void again(void)
{
	enum { bytes = 256 << 10 };
	for (unsigned round = 0; round < 6; round++) {
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		MPI_Win all, half, dynamic;
		CHECK(memory != MAP_FAILED);
		CHECK_MPI(MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &all));
		CHECK_MPI(MPI_Win_create(memory + bytes / 2, bytes / 2, 1, MPI_INFO_NULL,
			MPI_COMM_WORLD, &half));
		CHECK_MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
		CHECK_MPI(MPI_Win_attach(dynamic, memory, bytes));
		use(memory, bytes, all, 10 * round);
		use(memory + bytes / 2, bytes / 2, half, 10 * round + 3);
		CHECK_MPI(MPI_Win_free(round % 2 ? &all : &half));
		use(round % 2 ? memory + bytes / 2 : memory, round % 2 ? bytes / 2 : bytes,
			round % 2 ? half : all, 10 * round + 6);
		CHECK_MPI(MPI_Win_free(round % 2 ? &half : &all));
		CHECK_MPI(MPI_Win_detach(dynamic, memory));
		CHECK_MPI(MPI_Win_free(&dynamic));
		munmap(memory, bytes);
	}
}

// A window in which no rank has memory.
static void empty(void)
{
	MPI_Win win;
	CHECK_MPI(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Put(NULL, 0, MPI_INT, (me + 1) % np, 0, 0, MPI_INT, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(2 * np <= 64);
	int stack[64];
	int *heap = check_alloc(sizeof(int) * 64);
	for (int holes = 0; holes <= 1; holes++) {
		exchange("heap", heap, holes);
		exchange("stack", stack, holes);
		exchange("data of the program", global, holes);
	}
	exchange(me % 2 ? "data" : "heap", me % 2 ? global : heap, 0);
	part_of_memory();
	overlapping();
	again();
	empty();
	free(heap);
	return check_end("create");
}
