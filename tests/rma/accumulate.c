// SPDX-License-Identifier: BSD-3-Clause
// accumulate.c - MPI_Accumulate: every predefined operator with every predefined C type against an
// oracle in C, several lengths, MPI_PROC_NULL; and atomicity, when all ranks accumulate into the
// same elements at the same time.
#include "check.h"
#include "oracle.h"

enum { MOST = 1000, BYTES = MOST * 32 };

static MPI_Win win;
static char *memory, *origin, *want;

// Applies op to n elements of the window of the target; no other rank does there.
static void one(const struct oracle *o, int op, int n, int target, uint64_t *random)
{
	char where[64];
	for (int i = 0; i < n; i++) {
		o->set(want + o->size * (size_t)i, check_between(random, 0, 40));
		o->set(origin + o->size * (size_t)i, check_between(random, 0, 40));
	}
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
	CHECK_MPI(MPI_Put(want, n, o->type, target, 0, n, o->type, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	CHECK_MPI(MPI_Accumulate(origin, n, o->type, target, 0, n, o->type, oracle_op(op), win));
	CHECK_MPI(MPI_Win_flush(target, win));
	for (int i = 0; i < n; i++)
		o->apply(op, want + o->size * (size_t)i, origin + o->size * (size_t)i);
	memset(origin, 0, o->size * (size_t)n);
	CHECK_MPI(MPI_Get(origin, n, o->type, target, 0, n, o->type, win));
	CHECK_MPI(MPI_Win_unlock(target, win));
	snprintf(where, sizeof where, "MPI_%s at rank %d", oracle_name[op], target);
	oracle_check(o, origin, want, n, where);
}

// All ranks add to all ranks' elements at the same time, in pieces of different sizes and places.
static void together(void)
{
	enum { N = 300 };
	int64_t *sums = (int64_t *)memory, ones[N];
	int rounds = check_rounds(20);
	memset(memory, 0, N * sizeof(int64_t));
	for (int i = 0; i < N; i++)
		ones[i] = 1;
	barrier();
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int round = 0; round < rounds; round++) {
		for (int t = 0; t < np; t++) {
			int to = (me + t) % np;
			CHECK_MPI(MPI_Accumulate(ones, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T,
				MPI_SUM, win));
			CHECK_MPI(MPI_Accumulate(ones, N, MPI_INT64_T, to, 0, N, MPI_INT64_T,
				MPI_SUM, win));
			CHECK_MPI(MPI_Accumulate(ones, 3, MPI_INT64_T, to, 7 * sizeof(int64_t), 3,
				MPI_INT64_T, MPI_SUM, win));
		}
	}
	CHECK_MPI(MPI_Win_unlock_all(win));
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
	for (int i = 0; i < N; i++)
		CHECK_INT(sums[i], (int64_t)np * rounds * (1 + (i == 0) + (i >= 7 && i < 10)));
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
}

// The same with doubles, the largest of all, and bits; each in an area of its own at rank 0, in one
// fence epoch.
static void mixed(void)
{
	double half = 0.5, *sum = (double *)memory;
	int mine = 1000 - me, bit = 1 << me, *largest = (int *)(memory + 8),
	    *bits = (int *)(memory + 12);
	memset(memory, 0, 16);
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
	for (int i = 0; i < 10; i++) {
		CHECK_MPI(MPI_Accumulate(&half, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, win));
		CHECK_MPI(MPI_Accumulate(&mine, 1, MPI_INT, 0, 8, 1, MPI_INT, MPI_MAX, win));
		CHECK_MPI(MPI_Accumulate(&bit, 1, MPI_INT, 0, 12, 1, MPI_INT, MPI_BOR, win));
	}
	CHECK_MPI(MPI_Accumulate(&half, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, MPI_SUM,
		win));
	CHECK_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	if (me == 0) {
		CHECK_DBL(*sum, 5.0 * np);
		CHECK_INT(*largest, 1000);
		CHECK_INT(*bits, (1 << np) - 1);
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	int types;
	const struct oracle *o = oracle_table(&types);
	uint64_t random = 4711 + (uint64_t)me;
	origin = check_alloc(BYTES);
	want = check_alloc(BYTES);
	CHECK_MPI(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	for (int t = 0; t < types; t++) {
		for (int op = 0; op < O_NO_OP; op++) {
			if (!(o[t].ops & BIT(op)))
				continue;
			one(&o[t], op, 1, (me + 1) % np, &random);
			one(&o[t], op, check_between(&random, 2, 9), (me + t) % np, &random);
			one(&o[t], op, op == O_SUM || op == O_REPLACE ? MOST : 67, (me + op) % np,
				&random);
		}
	}
	barrier();
	together();
	mixed();
	CHECK_MPI(MPI_Win_free(&win));
	free(origin);
	free(want);
	return check_end("accumulate");
}
