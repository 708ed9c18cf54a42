// SPDX-License-Identifier: BSD-3-Clause
// dynamic.c - MPI_Win_create_dynamic: memory attached and detached while others use the window,
// many regions at once, addresses from MPI_Get_address and MPI_Aint_add; detached memory is out of
// range.
#include "check.h"

enum { REGIONS = 20 };

static MPI_Win win;

// The bytes of a region.
static size_t bytes_of(int region)
{
	return region % 5 == 4 ? 100000 : (size_t)(region + 1) * 13;
}

// Tells everyone the addresses of everyone's regions: address[rank * REGIONS + region].
static void tell(char **region, MPI_Aint *address)
{
	MPI_Aint mine[REGIONS];
	for (int i = 0; i < REGIONS; i++)
		CHECK_MPI(MPI_Get_address(region[i], &mine[i]));
	CHECK_MPI(
		MPI_Allgather(mine, REGIONS, MPI_AINT, address, REGIONS, MPI_AINT, MPI_COMM_WORLD));
}

// Every rank writes the regions of its right neighbour whose number has this remainder by 2, and
// reads them back.
static void use(char **region, const MPI_Aint *address, int parity)
{
	int right = (me + 1) % np, left = (me + np - 1) % np;
	char *data = check_alloc(100000), *got = check_alloc(100000);
	for (int i = parity; i < REGIONS; i += 2) {
		MPI_Aint to = address[right * REGIONS + i];
		int n = (int)bytes_of(i), half = n / 2;
		check_fill(data, (size_t)n, (uint64_t)(1000 * me + i));
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
		CHECK_MPI(MPI_Put(data, half, MPI_BYTE, right, to, half, MPI_BYTE, win));
		CHECK_MPI(MPI_Put(data + half, n - half, MPI_BYTE, right, MPI_Aint_add(to, half),
			n - half, MPI_BYTE, win));
		CHECK_MPI(MPI_Win_flush(right, win));
		memset(got, 0, (size_t)n);
		CHECK_MPI(MPI_Get(got, n, MPI_BYTE, right, to, n, MPI_BYTE, win));
		CHECK_MPI(MPI_Win_unlock(right, win));
		CHECK_MEM(got, data, (size_t)n, "region %d read back", i);
	}
	barrier();
	for (int i = parity; i < REGIONS; i += 2) {
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
		check_fill(data, bytes_of(i), (uint64_t)(1000 * left + i));
		CHECK_MEM(region[i], data, bytes_of(i), "my region %d", i);
		CHECK_MPI(MPI_Win_unlock(me, win));
	}
	barrier();
	free(data);
	free(got);
}

// Atomic operations in a region on the stack; one that was attached again.
static void count(void)
{
	int64_t counter = 0, one = 1, old = -1, result = -1;
	MPI_Aint mine, theirs;
	CHECK_MPI(MPI_Win_attach(win, &counter, sizeof counter));
	CHECK_MPI(MPI_Win_detach(win, &counter));
	CHECK_MPI(MPI_Win_attach(win, &counter, sizeof counter));
	CHECK_MPI(MPI_Get_address(&counter, &mine));
	theirs = mine;
	CHECK_MPI(MPI_Bcast(&theirs, 1, MPI_AINT, 0, MPI_COMM_WORLD));
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int i = 0; i < 10; i++) {
		CHECK_MPI(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, theirs, MPI_SUM, win));
		CHECK_MPI(MPI_Win_flush(0, win));
		CHECK(old >= i && old < 10 * np);
	}
	barrier();
	CHECK_MPI(MPI_Fetch_and_op(NULL, &result, MPI_INT64_T, 0, theirs, MPI_NO_OP, win));
	CHECK_MPI(MPI_Win_unlock_all(win));
	CHECK_INT(result, 10 * np);
	barrier();
	CHECK_MPI(MPI_Win_detach(win, &counter));
}

// What is no longer attached, and what is beyond the end of a region, is refused.
static void refused(MPI_Aint detached, MPI_Aint attached, int bytes)
{
	char data[64] = {0};
	int right = (me + 1) % np;
	CHECK_MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	for (int i = 0; i < 3; i++) {
		CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
		int code = i == 0 ?
			MPI_Get(data, 1, MPI_BYTE, right, detached, 1, MPI_BYTE, win) :
			i == 1 ?
			MPI_Put(data, 1, MPI_BYTE, right, detached, 1, MPI_BYTE, win) :
			MPI_Get(data, 2, MPI_BYTE, right, attached + bytes - 1, 2, MPI_BYTE, win);
		if (code == MPI_SUCCESS)
			code = MPI_Win_flush(right, win); // a target on another node may tell later
		CHECK_CLASS(code, MPI_ERR_RMA_RANGE);
		MPI_Win_unlock(right, win);
	}
	CHECK_MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	char *region[REGIONS], *spare[REGIONS];
	MPI_Aint *address = check_alloc(sizeof(MPI_Aint) * (size_t)(np * REGIONS));
	CHECK_MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	for (int i = 0; i < REGIONS; i++) {
		region[i] = check_alloc(bytes_of(i) + 4096);
		spare[i] = check_alloc(bytes_of(i) + 4096);
		CHECK_MPI(MPI_Win_attach(win, region[i], (MPI_Aint)bytes_of(i)));
	}
	tell(region, address);
	use(region, address, 0);
	use(region, address, 1);
	// Every second region is detached, the others go on; then others take their places.
	for (int i = 0; i < REGIONS; i += 2)
		CHECK_MPI(MPI_Win_detach(win, region[i]));
	barrier();
	use(region, address, 1);
	int right = (me + 1) % np;
	if (!check_native())
		refused(address[right * REGIONS + 4], address[right * REGIONS + 1],
			(int)bytes_of(1));
	barrier();
	for (int i = 0; i < REGIONS; i += 2) {
		free(region[i]);
		region[i] = spare[i];
		CHECK_MPI(MPI_Win_attach(win, region[i], (MPI_Aint)bytes_of(i)));
	}
	tell(region, address);
	use(region, address, 0);
	count();
	barrier();
	CHECK_MPI(MPI_Win_free(&win)); // with regions that are still attached
	for (int i = 0; i < REGIONS; i++) {
		free(region[i]);
		if (i % 2)
			free(spare[i]);
	}
	free(address);
	return check_end("dynamic");
}
