// SPDX-License-Identifier: BSD-3-Clause
// fetch_op.c - MPI_Fetch_and_op: distinct tickets from counters of every rank, several types and
// operators on one element, reading with MPI_NO_OP, swapping with MPI_REPLACE, and calls that wait
// for one flush together.
#include "check.h"
#include "oracle.h"

static MPI_Win win;
static char *memory; // 64 bytes for each rank's own use, after the 64 of the common counter

// Tickets of one target's counter: all ranks together get every number once, each rank in growing
// order.
static void tickets(int target)
{
	int n = check_rounds(50);
	int *mine = check_alloc(sizeof(int) * (size_t)n),
	    *all = check_alloc(sizeof(int) * (size_t)(n * np)), one = 1;
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	memset(memory, 0, 64);
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int i = 0; i < n; i++) {
		mine[i] = -1;
		CHECK_MPI(MPI_Fetch_and_op(&one, &mine[i], MPI_INT, target, 0, MPI_SUM, win));
		CHECK_MPI(MPI_Win_flush(target, win));
		CHECK(i == 0 || mine[i] > mine[i - 1]);
	}
	CHECK_MPI(MPI_Win_unlock_all(win));
	CHECK_MPI(MPI_Allgather(mine, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD));
	char *seen = check_alloc((size_t)(n * np));
	memset(seen, 0, (size_t)(n * np));
	for (int i = 0; i < n * np; i++) {
		CHECK(all[i] >= 0 && all[i] < n * np);
		if (seen[all[i]]++)
			check_fail(__FILE__, __LINE__, "rank %d has given ticket %d twice", target,
				all[i]);
	}
	free(seen);
	free(mine);
	free(all);
}

// Every operator and type of one element, in my own 64 bytes at the target.
static void kinds(int target)
{
	int types;
	const struct oracle *o = oracle_table(&types);
	uint64_t random = (uint64_t)(me + 31 * target);
	_Alignas(16) char value[32], want[32], old[32], place[64];
	MPI_Aint mine = 64 * (me + 1);
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	for (int t = 0; t < types; t++) {
		for (int op = 0; op < O_OPS; op++) {
			if (!(o[t].ops & BIT(op)))
				continue;
			snprintf(place, sizeof place, "MPI_%s", oracle_name[op]);
			o[t].set(want, check_between(&random, 0, 40));
			o[t].set(value, check_between(&random, 0, 40));
			memset(old, 0, sizeof old);
			CHECK_MPI(MPI_Put(want, 1, o[t].type, target, mine, 1, o[t].type, win));
			CHECK_MPI(MPI_Win_flush(target, win));
			CHECK_MPI(MPI_Fetch_and_op(op == O_NO_OP ? NULL : value, old, o[t].type,
				target, mine, oracle_op(op), win));
			CHECK_MPI(MPI_Win_flush(target, win));
			oracle_check(&o[t], old, want, 1, place);
			o[t].apply(op, want, value);
			memset(old, 0, sizeof old);
			CHECK_MPI(MPI_Fetch_and_op(NULL, old, o[t].type, target, mine, MPI_NO_OP,
				win));
			CHECK_MPI(MPI_Win_flush(target, win));
			oracle_check(&o[t], old, want, 1, place);
		}
	}
	CHECK_MPI(MPI_Win_unlock(target, win));
}

// Everyone swaps its own number in once: the numbers that come out and the one that stays are all
// of them, once.
static void swap(void)
{
	long mine = me + 1, old = -1, *all = check_alloc(sizeof(long) * (size_t)np), sum = 0,
	     last = 0;
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
	memset(memory, 0, 64);
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Fetch_and_op(&mine, &old, MPI_LONG, np - 1, 0, MPI_REPLACE, win));
	CHECK_MPI(MPI_Fetch_and_op(&mine, &sum, MPI_LONG, MPI_PROC_NULL, 0, MPI_REPLACE, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_INT(sum, 0);
	CHECK_MPI(MPI_Fetch_and_op(NULL, &last, MPI_LONG, np - 1, 0, MPI_NO_OP, win));
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	CHECK_MPI(MPI_Allgather(&old, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD));
	for (int r = 0; r < np; r++)
		sum += all[r];
	CHECK_INT(sum + last, (long)np * (np + 1) / 2);
	free(all);
}

// Many calls before one flush: the results are there after it, in the order of the calls.
static void many(void)
{
	enum { N = 100 };
	long ones[N], old[N];
	int right = (me + 1) % np;
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	memset(memory, 0, 64);
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win));
	for (int i = 0; i < N; i++) {
		ones[i] = 1;
		old[i] = -1;
		CHECK_MPI(MPI_Fetch_and_op(&ones[i], &old[i], MPI_LONG, right, 8, MPI_SUM, win));
	}
	CHECK_MPI(MPI_Win_flush_local(right, win));
	for (int i = 0; i < N; i++)
		CHECK_INT(old[i], i);
	CHECK_MPI(MPI_Win_unlock(right, win));
	barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK_MPI(MPI_Win_allocate(64 * (np + 1), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	tickets(0);
	tickets(np - 1);
	barrier();
	for (int t = 0; t < np && t < 4; t++)
		kinds((me + t) % np);
	barrier();
	swap();
	barrier();
	many();
	CHECK_MPI(MPI_Win_free(&win));
	return check_end("fetch_op");
}
