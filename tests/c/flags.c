// SPDX-License-Identifier: BSD-3-Clause
// flags.c - flags of 1, 2, 4 and 8 bytes: put again and again by every kind of put while their
// owner takes them by atomic exchange, none comes twice or in pieces; read by every kind of get
// while their owner changes them, none is seen in pieces.
#include "check.h"
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

// The flags of a box are in lines of their own, at the end of an 8-byte word. WINDOW is by how many
// the putter may be ahead: fewer than half of the values that one byte has.
enum { FLAGS = 2, LINE = 64, WINDOW = 100, PART_MS = 40 };

struct box {
	char line[FLAGS][LINE];
	char unused[LINE];
	long seen[FLAGS]; // by the taker, told to the putter
	// no more comes; a long, so that what follows is aligned for atomic operations
	long done;
	char mine[FLAGS][LINE];
};

static void **base;
static int other;

static struct box *box(int rank) { return base[rank]; }

static char *place(char (*line)[LINE], int i, int n) { return line[i] + 8 - n; }

static long milliseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// A flag has two equal halves. How many values there are depends on its size; none is zero.
static long period(int n) { return n == 1 ? 255 : (1L << (n == 8 ? 30 : 4 * n)) - 1; }

static uint64_t value(long i, int n)
{
	uint64_t half = (uint64_t)(1 + i % period(n));
	return n == 1 ? half : half | half << 4 * n;
}

static void store(void *p, uint64_t v, int n)
{
	switch (n) {
	case 1: __atomic_store_n((uint8_t *)p, (uint8_t)v, __ATOMIC_RELAXED); break;
	case 2: __atomic_store_n((uint16_t *)p, (uint16_t)v, __ATOMIC_RELAXED); break;
	case 4: __atomic_store_n((uint32_t *)p, (uint32_t)v, __ATOMIC_RELAXED); break;
	default: __atomic_store_n((uint64_t *)p, v, __ATOMIC_RELAXED);
	}
}

static uint64_t take(void *p, int n)
{
	switch (n) {
	case 1: return __atomic_exchange_n((uint8_t *)p, 0, __ATOMIC_SEQ_CST);
	case 2: return __atomic_exchange_n((uint16_t *)p, 0, __ATOMIC_SEQ_CST);
	case 4: return __atomic_exchange_n((uint32_t *)p, 0, __ATOMIC_SEQ_CST);
	default: return __atomic_exchange_n((uint64_t *)p, 0, __ATOMIC_SEQ_CST);
	}
}

// The half of a flag that is whole.
static long half_of(uint64_t v, int n, const char *how)
{
	uint64_t half = n == 1 ? v : v & ((1ULL << 4 * n) - 1);
	if (half == 0 || (n > 1 && v != (half | half << 4 * n)))
		check_fail(__FILE__, __LINE__, "a flag of %d bytes by %s came in pieces: %#llx", n,
			how, (unsigned long long)v);
	return (long)half;
}

// The number of a flag, which came after number last.
static long number(uint64_t v, long last, int n, const char *how)
{
	long step = (half_of(v, n, how) - 1 - last % period(n) + period(n)) % period(n);
	if (step == 0)
		check_fail(__FILE__, __LINE__, "flag %ld of %d bytes by %s came twice", last, n,
			how);
	CHECK(step <= WINDOW);
	return last + step;
}

enum { CONTIGUOUS, NONBLOCKING, STRIDED, VECTOR, VALUE, HOWS };
static const char *const put_name[] = {"put", "nonblocking put", "PutS", "PutV", "PutValue"};
static const char *const get_name[] = {"get", "nonblocking get", "GetS", "GetV", "GetValue"};

static int flags_of(int how) { return how == STRIDED || how == VECTOR ? FLAGS : 1; }

static void put(int how, int n)
{
	char *from = place(box(me)->mine, 0, n), *to = place(box(other)->line, 0, n);
	int step = LINE, count[2] = {n, FLAGS};
	void *src[FLAGS] = {from, from + LINE}, *dst[FLAGS] = {to, to + LINE};
	armci_giov_t v = {.src_ptr_array = src,
		.dst_ptr_array = dst,
		.ptr_array_len = FLAGS,
		.bytes = n};
	armci_hdl_t h;
	switch (how) {
	case CONTIGUOUS: CHECK_OK(ARMCI_Put(from, to, n, other)); break;
	case NONBLOCKING:
		ARMCI_INIT_HANDLE(&h);
		CHECK_OK(ARMCI_NbPut(from, to, n, other, &h));
		CHECK_OK(ARMCI_Wait(&h));
		break;
	case STRIDED: CHECK_OK(ARMCI_PutS(from, &step, to, &step, count, 1, other)); break;
	case VECTOR: CHECK_OK(ARMCI_PutV(&v, 1, other)); break;
	default:
		if (n == 4)
			CHECK_OK(ARMCI_PutValueInt(*(int *)from, to, other));
		else
			CHECK_OK(ARMCI_PutValueLong(*(long *)from, to, other));
	}
}

static void get(int how, int n)
{
	char *to = place(box(me)->mine, 0, n), *from = place(box(other)->line, 0, n);
	int step = LINE, count[2] = {n, FLAGS};
	void *src[FLAGS] = {from, from + LINE}, *dst[FLAGS] = {to, to + LINE};
	armci_giov_t v = {.src_ptr_array = src,
		.dst_ptr_array = dst,
		.ptr_array_len = FLAGS,
		.bytes = n};
	armci_hdl_t h;
	switch (how) {
	case CONTIGUOUS: CHECK_OK(ARMCI_Get(from, to, n, other)); break;
	case NONBLOCKING:
		ARMCI_INIT_HANDLE(&h);
		CHECK_OK(ARMCI_NbGet(from, to, n, other, &h));
		CHECK_OK(ARMCI_Wait(&h));
		break;
	case STRIDED: CHECK_OK(ARMCI_GetS(from, &step, to, &step, count, 1, other)); break;
	case VECTOR: CHECK_OK(ARMCI_GetV(&v, 1, other)); break;
	default:
		if (n == 4)
			*(int *)to = ARMCI_GetValueInt(from, other);
		else
			*(long *)to = ARMCI_GetValueLong(from, other);
	}
}

// May the putter go on with flag i: has the taker seen all but the last `ahead`?
static int seen(long i, int flags, int ahead)
{
	for (int f = 0; f < flags; f++)
		if (*(volatile long *)&box(me)->seen[f] + ahead < i)
			return 0;
	return 1;
}

static void putter(int how, int n)
{
	long end = milliseconds() + PART_MS, i = 0;
	do {
		for (i++; !seen(i, flags_of(how), WINDOW);)
			sched_yield();
		for (int f = 0; f < FLAGS; f++)
			store(place(box(me)->mine, f, n), value(i, n), n);
		put(how, n);
	} while (i % 64 != 0 || milliseconds() < end);
	while (!seen(i, flags_of(how), 0))
		sched_yield();
	CHECK_OK(ARMCI_PutValueLong(1, &box(other)->done, other));
}

static void taker(int how, int n)
{
	long last[FLAGS] = {0, 0};
	for (int end = 0, some = 1; !end || some;) { // what is there after the end was put twice
		some = 0;
		end = *(volatile long *)&box(me)->done;
		for (int f = 0; f < FLAGS; f++) {
			uint64_t v = take(place(box(me)->line, f, n), n);
			if (v == 0)
				continue;
			last[f] = number(v, last[f], n, put_name[how]);
			some = 1;
		}
		if (some)
			CHECK_OK(ARMCI_Put(last, box(other)->seen, sizeof last, other));
	}
}

static void getter(int how, int n)
{
	for (long end = milliseconds() + PART_MS; milliseconds() < end;) {
		get(how, n);
		for (int f = 0; f < flags_of(how); f++)
			half_of(take(place(box(me)->mine, f, n), n), n, get_name[how]);
	}
	CHECK_OK(ARMCI_PutValueLong(1, &box(other)->done, other));
}

static void owner(int n)
{
	for (long i = 0; !*(volatile long *)&box(me)->done; i++)
		for (int f = 0; f < FLAGS; f++)
			store(place(box(me)->line, f, n), value(i, n), n);
}

static void part(int how, int n, int gets)
{
	memset(box(me), 0, sizeof(struct box));
	for (int f = 0; gets && f < FLAGS; f++)
		store(place(box(me)->line, f, n), value(0, n), n);
	ARMCI_Barrier();
	if (other >= 0 && me % 2 == 0)
		(gets ? getter : putter)(how, n);
	else if (other >= 0 && gets)
		owner(n);
	else if (other >= 0)
		taker(how, n);
	ARMCI_Barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	base = check_malloc(sizeof(struct box));
	other = me % 2 == 1 ? me - 1 : me + 1 < np ? me + 1 : -1;
	for (int n = 1; n <= 8; n *= 2)
		for (int how = 0; how < HOWS; how++)
			for (int gets = 0; gets < 2 && (how != VALUE || n >= 4); gets++)
				part(how, n, gets);
	check_free(base);
	return check_end("flags");
}
