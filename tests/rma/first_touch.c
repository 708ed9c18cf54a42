// SPDX-License-Identifier: BSD-3-Clause
// first_touch.c - memory of windows and of MPI_Alloc_mem costs nothing until it is touched, and
// then only its page; each member of a contiguous shared window makes the pages of its own part;
// what is freed goes back. Looks at the shared memory that this process has resident.
#include "check.h"

enum { MIB = 1 << 20, BYTES = 64 * MIB, TOUCHED = BYTES / 2, SLACK = 4 * MIB };

static long resident(void)
{
	char line[256];
	long kib = -1;
	FILE *f = fopen("/proc/self/status", "r");
	CHECK(f != NULL);
	while (kib < 0 && fgets(line, sizeof line, f))
		if (sscanf(line, "RssShmem: %ld kB", &kib) != 1)
			kib = -1;
	fclose(f);
	CHECK(kib >= 0);
	return kib << 10;
}

static long before;

static void check_growth(const char *what, long want)
{
	long grown = resident() - before;
	if (!check_native() && (grown < want - SLACK || grown > want + SLACK))
		check_fail(__FILE__, __LINE__, "%s: %ld bytes are resident, not %ld", what,
			grown, want);
}

// Touches a half of BYTES, and looks before and after.
static void touch(const char *what, volatile char *at)
{
	barrier();
	check_growth(what, 0);
	barrier();
	for (long i = 0; i < TOUCHED; i += 4096)
		at[i] = (char)(i + me);
	check_growth(what, TOUCHED);
	for (long i = 0; i < TOUCHED; i += 4096)
		CHECK_INT(at[i], (char)(i + me));
	barrier();
}

static void check_alloc_mem(void)
{
	char *at;
	before = resident();
	CHECK_MPI(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &at));
	touch("MPI_Alloc_mem", at);
	CHECK_MPI(MPI_Free_mem(at));
	check_growth("MPI_Free_mem", 0);
}

static void check_allocate(void)
{
	char *at, last = 7;
	MPI_Win win;
	before = resident();
	CHECK_MPI(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &win));
	touch("MPI_Win_allocate", at);
	CHECK_MPI(MPI_Win_fence(0, win)); // a page that its owner has not touched
	CHECK_MPI(MPI_Put(&last, 1, MPI_CHAR, (me + 1) % np, BYTES - 1, 1, MPI_CHAR, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_INT(at[BYTES - 1], 7);
	CHECK_MPI(MPI_Win_free(&win));
	check_growth("MPI_Win_free", 0);
}

static void check_shared(void)
{
	MPI_Comm node = check_node();
	char *at;
	MPI_Win win;
	before = resident();
	CHECK_MPI(MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, node, &at, &win));
	touch("MPI_Win_allocate_shared", at);
	CHECK_MPI(MPI_Win_free(&win));
	barrier(); // the first member has freed the memory of all
	check_growth("MPI_Win_free", 0);
	CHECK_MPI(MPI_Comm_free(&node));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	check_alloc_mem();
	check_allocate();
	check_shared();
	return check_end("first_touch");
}
