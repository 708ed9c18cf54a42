// SPDX-License-Identifier: BSD-3-Clause
// get_accumulate.c - MPI_Get_accumulate: the old value is returned and the new one is stored, for
// every operator and type against the oracle; MPI_NO_OP reads; and old values of concurrent calls
// are all different.
#include "check.h"
#include "oracle.h"

enum { MOST = 500, BYTES = MOST * 32 };

static MPI_Win win;
static char *memory, *origin, *want, *old, *got;

static void one(const struct oracle *o, int op, int n, int target, uint64_t *random)
{
	char where[64];
	for (int i = 0; i < n; i++) {
		o->set(want + o->size * (size_t)i, check_between(random, 0, 40));
		o->set(origin + o->size * (size_t)i, check_between(random, 0, 40));
	}
	memset(old, 0, o->size * (size_t)n);
	memset(got, 0, o->size * (size_t)n);
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
	CHECK_MPI(MPI_Put(want, n, o->type, target, 0, n, o->type, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	if (op == O_NO_OP) // the origin is not looked at
		CHECK_MPI(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, old, n, o->type, target, 0,
			n, o->type, MPI_NO_OP, win));
	else
		CHECK_MPI(MPI_Get_accumulate(origin, n, o->type, old, n, o->type, target, 0, n,
			o->type, oracle_op(op), win));
	CHECK_MPI(MPI_Win_flush(target, win));
	snprintf(where, sizeof where, "old value of MPI_%s at rank %d", oracle_name[op], target);
	oracle_check(o, old, want, n, where);
	CHECK_MPI(MPI_Get(got, n, o->type, target, 0, n, o->type, win));
	CHECK_MPI(MPI_Win_unlock(target, win));
	for (int i = 0; i < n; i++)
		o->apply(op, want + o->size * (size_t)i, origin + o->size * (size_t)i);
	snprintf(where, sizeof where, "new value of MPI_%s at rank %d", oracle_name[op], target);
	oracle_check(o, got, want, n, where);
}

// Every rank draws tickets of several counters of rank 0 in one call: each counter gives every
// number once.
static void tickets(void)
{
	enum { COUNTERS = 5 };
	int rounds = check_rounds(40);
	int64_t *mine = check_alloc(sizeof(int64_t) * (size_t)(COUNTERS * rounds)),
		ones[COUNTERS] = {1, 1, 1, 1, 1};
	int64_t *all = check_alloc(sizeof(int64_t) * (size_t)(COUNTERS * rounds * np));
	memset(memory, 0, COUNTERS * sizeof(int64_t));
	barrier();
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int i = 0; i < rounds; i++) {
		CHECK_MPI(MPI_Get_accumulate(ones, COUNTERS, MPI_INT64_T, mine + COUNTERS * i,
			COUNTERS, MPI_INT64_T, 0, 0, COUNTERS, MPI_INT64_T, MPI_SUM, win));
		CHECK_MPI(MPI_Win_flush(0, win));
		for (int c = 0; i > 0 && c < COUNTERS; c++)
			CHECK(mine[COUNTERS * i + c] > mine[COUNTERS * (i - 1) + c]);
	}
	CHECK_MPI(MPI_Win_unlock_all(win));
	CHECK_MPI(MPI_Allgather(mine, COUNTERS * rounds, MPI_INT64_T, all, COUNTERS * rounds,
		MPI_INT64_T, MPI_COMM_WORLD));
	char *seen = check_alloc((size_t)(rounds * np));
	for (int c = 0; c < COUNTERS; c++) {
		memset(seen, 0, (size_t)(rounds * np));
		for (int i = 0; i < rounds * np; i++) {
			int64_t ticket = all[COUNTERS * i + c];
			CHECK(ticket >= 0 && ticket < rounds * np);
			if (seen[ticket]++)
				check_fail(__FILE__, __LINE__,
					"counter %d has given %" PRId64 " twice", c, ticket);
		}
	}
	free(seen);
	free(mine);
	free(all);
}

// The old value may be wanted in a derived type, and MPI_PROC_NULL gives nothing.
static void shapes(void)
{
	int *ints = (int *)memory, add[4] = {10, 20, 30, 40}, spread[8] = {0},
	    right = (me + 1) % np;
	MPI_Datatype vector;
	CHECK_MPI(MPI_Type_vector(4, 1, 2, MPI_INT, &vector));
	CHECK_MPI(MPI_Type_commit(&vector));
	CHECK_MPI(MPI_Win_fence(0, win));
	for (int i = 0; i < 8; i++)
		ints[i] = 100 * me + i;
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Get_accumulate(add, 4, MPI_INT, spread, 1, vector, right, 0, 1, vector,
		MPI_SUM, win));
	CHECK_MPI(MPI_Get_accumulate(add, 4, MPI_INT, spread, 1, vector, MPI_PROC_NULL, 0, 1,
		vector, MPI_SUM, win));
	CHECK_MPI(MPI_Win_fence(0, win));
	for (int i = 0; i < 8; i++) {
		CHECK_INT(spread[i], i % 2 ? 0 : 100 * right + i);
		CHECK_INT(ints[i], 100 * me + i + (i % 2 ? 0 : add[i / 2]));
	}
	CHECK_MPI(MPI_Type_free(&vector));
	barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	int types;
	const struct oracle *o = oracle_table(&types);
	uint64_t random = 815 + (uint64_t)me;
	origin = check_alloc(BYTES);
	want = check_alloc(BYTES);
	old = check_alloc(BYTES);
	got = check_alloc(BYTES);
	CHECK_MPI(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	for (int t = 0; t < types; t++) {
		for (int op = 0; op < O_OPS; op++) {
			if (!(o[t].ops & BIT(op)))
				continue;
			one(&o[t], op, 1, (me + t) % np, &random);
			one(&o[t], op, op == O_SUM || op == O_NO_OP ? MOST : 13, (me + op) % np,
				&random);
		}
	}
	barrier();
	tickets();
	barrier();
	shapes();
	CHECK_MPI(MPI_Win_free(&win));
	free(origin);
	free(want);
	free(old);
	free(got);
	return check_end("get_accumulate");
}
