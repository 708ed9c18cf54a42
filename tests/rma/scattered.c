// SPDX-License-Identifier: BSD-3-Clause
// scattered.c - dynamic windows whose target datatype has gaps that are not attached: only the
// bytes that a datatype touches must be. Regions are of the heap, of the stack and of
// MPI_Alloc_mem, in regular and irregular datatypes, with every kind of operation, at other ranks
// and at oneself; a run that leaves its region is refused, wherever the target is.
#include "check.h"

enum { BLOCKS = 8, WORDS = 16, STEP = 48, PLACES = 3, ABSOLUTE = PLACES * 2 };

static MPI_Win win;

struct place {
	int64_t *word; // BLOCKS * STEP of them; WORDS at the beginning of each step are attached
	MPI_Aint address;
};

static int64_t first_value(int rank, int place, int i)
{
	return 1000000 * rank + 10000 * place + i;
}

// The first word of the block that run k of an absolute datatype reads.
static int word_of_run(int k)
{
	return (k % 2 ? BLOCKS - 1 : 2) * STEP;
}

static int is_attached(int i)
{
	return i % STEP < WORDS;
}

static void fill_place(const struct place *p, int place)
{
	for (int i = 0; i < BLOCKS * STEP; i++)
		p->word[i] = first_value(me, place, i);
}

static void attach(const struct place *p)
{
	for (int b = 0; b < BLOCKS; b++)
		CHECK_MPI(MPI_Win_attach(win, p->word + b * STEP, WORDS * sizeof(int64_t)));
}

// My place has been changed by `added` where it is attached, or set to `set` if that is not
// negative; nowhere else.
static void check_place(const struct place *p, int place, int64_t added, int64_t set)
{
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	for (int i = 0; i < BLOCKS * STEP; i++) {
		int64_t was = first_value(me, place, i);
		CHECK_INT(p->word[i], !is_attached(i) ? was : set >= 0 ? set : was + added);
	}
	CHECK_MPI(MPI_Win_unlock(me, win));
}

// Blocks at equal distances by one datatype: get, accumulate, fetching accumulate, put, with and
// without a request.
static void use_regular(const struct place *mine, int place, int target, MPI_Aint at,
	MPI_Datatype type)
{
	enum { N = BLOCKS * WORDS };
	int64_t got[N], seven[N];
	MPI_Request r;
	memset(got, -1, sizeof got);
	for (int i = 0; i < N; i++)
		seven[i] = 7;
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	CHECK_MPI(MPI_Get(got, N, MPI_INT64_T, target, at, 1, type, win));
	CHECK_MPI(MPI_Win_unlock(target, win));
	for (int i = 0; i < N; i++)
		CHECK_INT(got[i], first_value(target, place, i / WORDS * STEP + i % WORDS));
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	CHECK_MPI(MPI_Accumulate(seven, N, MPI_INT64_T, target, at, 1, type, MPI_SUM, win));
	CHECK_MPI(MPI_Get_accumulate(seven, N, MPI_INT64_T, got, N, MPI_INT64_T, target, at, 1,
		type, MPI_SUM, win));
	CHECK_MPI(MPI_Win_unlock(target, win));
	for (int i = 0; i < N; i++)
		CHECK_INT(got[i], first_value(target, place, i / WORDS * STEP + i % WORDS) + 7);
	barrier();
	check_place(mine, place, 14, -1);
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	CHECK_MPI(MPI_Put(seven, N, MPI_INT64_T, target, at, 1, type, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	CHECK_MPI(MPI_Rget(got, N, MPI_INT64_T, target, at, 1, type, win, &r));
	CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK_MPI(MPI_Win_unlock(target, win));
	CHECK_MEM(got, seven, sizeof got, "what was put in place %d", place);
	barrier();
	check_place(mine, place, 0, 7);
	barrier();
	fill_place(mine, place);
	barrier();
}

// Blocks of all places, of two lengths, by absolute addresses.
static void use_absolute(const struct place *mine, int target, const MPI_Aint *base)
{
	int lengths[ABSOLUTE], n = 0;
	MPI_Aint address[ABSOLUTE];
	MPI_Datatype type;
	int64_t got[ABSOLUTE * WORDS], five[ABSOLUTE * WORDS];
	for (int k = 0; k < ABSOLUTE; k++) {
		lengths[k] = k % 2 ? WORDS : WORDS / 2;
		address[k] = MPI_Aint_add(base[k / 2], word_of_run(k) * (MPI_Aint)sizeof(int64_t));
		n += lengths[k];
	}
	for (int i = 0; i < n; i++)
		five[i] = 5;
	CHECK_MPI(MPI_Type_create_hindexed(ABSOLUTE, lengths, address, MPI_INT64_T, &type));
	CHECK_MPI(MPI_Type_commit(&type));
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	CHECK_MPI(MPI_Get(got, n, MPI_INT64_T, target, 0, 1, type, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	for (int k = 0, i = 0; k < ABSOLUTE; k++)
		for (int w = 0; w < lengths[k]; w++, i++)
			CHECK_INT(got[i], first_value(target, k / 2, word_of_run(k) + w));
	CHECK_MPI(MPI_Win_unlock(target, win));
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	CHECK_MPI(MPI_Put(five, n, MPI_INT64_T, target, 0, 1, type, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	CHECK_MPI(MPI_Accumulate(five, n, MPI_INT64_T, target, 0, 1, type, MPI_SUM, win));
	CHECK_MPI(MPI_Win_unlock(target, win));
	barrier();
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	for (int p = 0; p < PLACES; p++) {
		int gap = 2 * STEP + WORDS / 2;
		CHECK_INT(mine[p].word[2 * STEP], 10);
		CHECK_INT(mine[p].word[gap], first_value(me, p, gap));
		CHECK_INT(mine[p].word[(BLOCKS - 1) * STEP + WORDS - 1], 10);
	}
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
	for (int p = 0; p < PLACES; p++)
		fill_place(&mine[p], p);
	CHECK_MPI(MPI_Type_free(&type));
	barrier();
}

static int operate(int kind, void *data, int n, int target, MPI_Aint at, MPI_Datatype type)
{
	switch (kind) {
	case 0:
		return MPI_Get(data, n, MPI_INT64_T, target, at, 1, type, win);
	case 1:
		return MPI_Put(data, n, MPI_INT64_T, target, at, 1, type, win);
	}
	return MPI_Accumulate(data, n, MPI_INT64_T, target, at, 1, type, MPI_SUM, win);
}

// Rows that are one word longer than what is attached, in a regular and an irregular datatype.
static void check_refusals(int target, MPI_Aint at)
{
	MPI_Datatype type[2];
	int lengths[] = {1, WORDS + 1}, places[] = {0, STEP};
	int64_t data[BLOCKS * (WORDS + 1)] = {0};
	CHECK_MPI(MPI_Type_vector(BLOCKS, WORDS + 1, STEP, MPI_INT64_T, &type[0]));
	CHECK_MPI(MPI_Type_indexed(2, lengths, places, MPI_INT64_T, &type[1]));
	CHECK_MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	for (int k = 0; k < 2; k++) {
		int n = k == 0 ? BLOCKS * (WORDS + 1) : WORDS + 2;
		CHECK_MPI(MPI_Type_commit(&type[k]));
		for (int kind = 0; kind < 3; kind++) {
			CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
			int code = operate(kind, data, n, target, at, type[k]);
			if (code == MPI_SUCCESS)
				code = MPI_Win_flush(target, win);
			CHECK_CLASS(code, MPI_ERR_RMA_RANGE);
			MPI_Win_unlock(target, win);
		}
		CHECK_MPI(MPI_Type_free(&type[k]));
	}
	CHECK_MPI(MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL));
	barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	int64_t on_stack[BLOCKS * STEP], *allocated;
	struct place mine[PLACES];
	MPI_Aint base[PLACES], *all = check_alloc((size_t)np * sizeof base);
	MPI_Datatype vector;
	CHECK_MPI(MPI_Alloc_mem(sizeof on_stack, MPI_INFO_NULL, &allocated));
	mine[0].word = check_alloc(sizeof on_stack);
	mine[1].word = on_stack;
	mine[2].word = allocated;
	CHECK_MPI(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	for (int p = 0; p < PLACES; p++) {
		fill_place(&mine[p], p);
		attach(&mine[p]);
		CHECK_MPI(MPI_Get_address(mine[p].word, &base[p]));
	}
	CHECK_MPI(MPI_Allgather(base, PLACES, MPI_AINT, all, PLACES, MPI_AINT, MPI_COMM_WORLD));
	CHECK_MPI(MPI_Type_vector(BLOCKS, WORDS, STEP, MPI_INT64_T, &vector));
	CHECK_MPI(MPI_Type_commit(&vector));
	for (int distance = 0; distance < np; distance++) {
		int target = (me + distance) % np;
		for (int p = 0; p < PLACES; p++)
			use_regular(&mine[p], p, target, all[target * PLACES + p], vector);
		use_absolute(mine, target, all + target * PLACES);
		if (!check_native())
			check_refusals(target, all[target * PLACES]);
	}
	CHECK_MPI(MPI_Type_free(&vector));
	CHECK_MPI(MPI_Win_free(&win));
	free(mine[0].word);
	CHECK_MPI(MPI_Free_mem(allocated));
	free(all);
	return check_end("scattered");
}
