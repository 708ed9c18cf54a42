// SPDX-License-Identifier: BSD-3-Clause
// cas.c - MPI_Compare_and_swap: every allowed type, with and without success; counters by loops of
// it; a spin lock and a linked queue of ranks built from it.
#include "check.h"

static MPI_Win win;
// [0] word of a lock, [1] counter, [2] next of a queue, [3] go of a queue, [4] on: for each rank
static long *memory;

// One type: compares with the wrong and with the right value.
#define KIND(ctype, mtype) \
	do { \
		ctype start = (ctype)1, wrong = (ctype)0, new = (ctype)0, other = (ctype)1, \
		      old = (ctype)0, got = (ctype)0; \
		MPI_Aint at = 4 + me; \
		CHECK_MPI(MPI_Put(&start, 1, mtype, target, at, 1, mtype, win)); \
		CHECK_MPI(MPI_Win_flush(target, win)); \
		CHECK_MPI(MPI_Compare_and_swap(&other, &wrong, &old, mtype, target, at, win)); \
		CHECK_MPI(MPI_Win_flush(target, win)); \
		CHECK_INT(old, 1); \
		CHECK_MPI(MPI_Compare_and_swap(&new, &start, &old, mtype, target, at, win)); \
		CHECK_MPI(MPI_Win_flush(target, win)); \
		CHECK_INT(old, 1); \
		CHECK_MPI(MPI_Get(&got, 1, mtype, target, at, 1, mtype, win)); \
		CHECK_MPI(MPI_Win_flush(target, win)); \
		CHECK_INT(got, 0); \
	} while (0)

static void kinds(int target)
{
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
	KIND(signed char, MPI_SIGNED_CHAR);
	KIND(unsigned char, MPI_UNSIGNED_CHAR);
	KIND(short, MPI_SHORT);
	KIND(unsigned short, MPI_UNSIGNED_SHORT);
	KIND(int, MPI_INT);
	KIND(unsigned, MPI_UNSIGNED);
	KIND(long, MPI_LONG);
	KIND(unsigned long, MPI_UNSIGNED_LONG);
	KIND(long long, MPI_LONG_LONG);
	KIND(int8_t, MPI_INT8_T);
	KIND(int16_t, MPI_INT16_T);
	KIND(int32_t, MPI_INT32_T);
	KIND(int64_t, MPI_INT64_T);
	KIND(uint8_t, MPI_UINT8_T);
	KIND(uint16_t, MPI_UINT16_T);
	KIND(uint32_t, MPI_UINT32_T);
	KIND(uint64_t, MPI_UINT64_T);
	KIND(_Bool, MPI_C_BOOL);
	KIND(unsigned char, MPI_BYTE);
	KIND(MPI_Aint, MPI_AINT);
	KIND(MPI_Offset, MPI_OFFSET);
	CHECK_MPI(MPI_Win_unlock(target, win));
}

// Sets my words to 0 and waits for all.
static void zero(void)
{
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win));
	memset(memory, 0, sizeof(long) * (size_t)(4 + np));
	CHECK_MPI(MPI_Win_unlock(me, win));
	barrier();
}

// Swaps new for old at a rank's word; the value that was there.
static long swapped(long old, long new, int rank, int word)
{
	long was = -99;
	CHECK_MPI(MPI_Compare_and_swap(&new, &old, &was, MPI_LONG, rank, word, win));
	CHECK_MPI(MPI_Win_flush(rank, win));
	return was;
}

static long read_word(int rank, int word)
{
	long value = -99;
	CHECK_MPI(MPI_Fetch_and_op(NULL, &value, MPI_LONG, rank, word, MPI_NO_OP, win));
	CHECK_MPI(MPI_Win_flush(rank, win));
	return value;
}

static void write_word(long value, int rank, int word)
{
	CHECK_MPI(MPI_Accumulate(&value, 1, MPI_LONG, rank, word, 1, MPI_LONG, MPI_REPLACE, win));
	CHECK_MPI(MPI_Win_flush(rank, win));
}

// Each rank increments the counters of all ranks by loops.
static void counters(void)
{
	int rounds = check_rounds(30);
	zero();
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int i = 0; i < rounds * np; i++) {
		int target = (me + i) % np;
		long now = 0, was;
		while ((was = swapped(now, now + 1, target, 1)) != now)
			now = was;
	}
	barrier();
	CHECK_INT(read_word(me, 1), rounds * np);
	CHECK_MPI(MPI_Win_unlock_all(win));
	barrier();
}

// A lock word at the last rank protects a counter there that is changed without atomic operations.
static void spin_lock(void)
{
	int rounds = check_rounds(10), home = np - 1;
	zero();
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int i = 0; i < rounds; i++) {
		long value = -1;
		while (swapped(0, 1 + me, home, 0) != 0)
			usleep(100);
		CHECK_MPI(MPI_Get(&value, 1, MPI_LONG, home, 1, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Win_flush(home, win));
		value++;
		CHECK_MPI(MPI_Put(&value, 1, MPI_LONG, home, 1, 1, MPI_LONG, win));
		CHECK_MPI(MPI_Win_flush(home, win));
		CHECK_INT(swapped(1 + me, 0, home, 0), 1 + me);
	}
	barrier();
	CHECK_INT(read_word(home, 1), rounds * np);
	CHECK_MPI(MPI_Win_unlock_all(win));
	barrier();
}

// A queue of waiting ranks: the tail is at rank 0, each link at the rank itself; the rank at its
// head has the counter.
static void queue(void)
{
	int rounds = check_rounds(10);
	long mine = me + 1;
	zero();
	CHECK_MPI(MPI_Win_lock_all(0, win));
	for (int i = 0; i < rounds; i++) {
		long before = -1;
		write_word(0, me, 2);
		write_word(0, me, 3);
		CHECK_MPI(MPI_Fetch_and_op(&mine, &before, MPI_LONG, 0, 0, MPI_REPLACE, win));
		CHECK_MPI(MPI_Win_flush(0, win));
		if (before != 0) {
			write_word(mine, (int)before - 1, 2);
			while (read_word(me, 3) == 0)
				usleep(100);
		}
		write_word(read_word(0, 1) + 1, 0, 1);
		if (swapped(mine, 0, 0, 0) != mine) {
			long next;
			while ((next = read_word(me, 2)) == 0)
				usleep(100);
			write_word(1, (int)next - 1, 3);
		}
	}
	barrier();
	CHECK_INT(read_word(0, 1), rounds * np);
	CHECK_INT(read_word(0, 0), 0);
	CHECK_MPI(MPI_Win_unlock_all(win));
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK_MPI(MPI_Win_allocate((4 + np) * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
		MPI_COMM_WORLD, &memory, &win));
	for (int t = 0; t < np; t++)
		kinds((me + t) % np);
	barrier();
	counters();
	spin_lock();
	queue();
	CHECK_MPI(MPI_Win_free(&win));
	return check_end("cas");
}
