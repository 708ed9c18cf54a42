// SPDX-License-Identifier: BSD-3-Clause
// requests.c - nonblocking contiguous transfers of all lengths and many at a time, from and
// to memory of every kind: under a handle each, under one handle, without; with blocking
// ones, strided ones and fences between them; completed by ARMCI_Wait, ARMCI_Test,
// ARMCI_WaitProc and ARMCI_WaitAll.
#include "check.h"
#include <pthread.h>

enum { ROOM = 1 << 20, LONG_ROOM = 20 << 20, MANY = 300, THREADS = 3 };
enum { EACH, ONE, NONE, WAYS }; // a handle for each transfer, one for all, no handle

static char **base;   // of each rank, ROOM for each other rank and thread
static char *arena;   // local memory that a device knows
static char *private; // local memory that it does not know
static int peer;

static char *far(int thread) { return base[peer] + (size_t)(me * THREADS + thread) * ROOM; }

static void complete(int way, armci_hdl_t *h, int n)
{
	if (way == NONE) {
		CHECK_OK(n % 2 ? ARMCI_WaitAll() : ARMCI_WaitProc(peer));
		return;
	}
	for (int i = 0; i < (way == EACH ? n : 1); i++) {
		if (i % 3 == 0) {
			int code;
			while ((code = ARMCI_Test(&h[i])) != 0) CHECK_INT(code, 1);
		}
		CHECK_OK(ARMCI_Wait(&h[i]));
		CHECK_INT(ARMCI_Test(&h[i]), 0);
	}
}

// `n` puts of random lengths side by side, then as many gets of the same places, in either
// kind of memory.
static void many(char *local, int way, int n, uint64_t seed, int thread)
{
	static _Thread_local armci_hdl_t h[MANY];
	int at[MANY + 1] = {0};
	memset(h, (int)(seed & 0xff), sizeof h);
	for (int i = 0; i < n; i++) {
		static const int most[] = {8, 300, 4096, 12000};
		at[i + 1] = at[i] + check_between(&seed, 1, most[check_between(&seed, 0, 3)]);
		if (at[i + 1] > ROOM / 2)
			n = i;
	}
	char *want = local, *got = local + ROOM / 2;
	check_fill(want, (size_t)at[n], seed);
	memset(got, 0xee, (size_t)at[n]);
	for (int i = 0; i < n; i++)
		CHECK_OK(ARMCI_NbPut(want + at[i], far(thread) + at[i], at[i + 1] - at[i], peer,
			way == NONE ? NULL : &h[way == EACH ? i : 0]));
	complete(way, h, n);
	for (int i = n - 1; i >= 0; i--)
		CHECK_OK(ARMCI_NbGet(far(thread) + at[i], got + at[i], at[i + 1] - at[i], peer,
			way == NONE ? NULL : &h[way == EACH ? i : 0]));
	complete(way, h, n);
	CHECK_MEM(got, want, (size_t)at[n]);
}

static void sides(void)
{
	for (int way = EACH; way < WAYS; way++)
		for (int n = 1; n <= MANY; n = n * 5 / 2 + 1) {
			many(arena, way, n, (uint64_t)(me * 1000 + n + way), 0);
			many(private, way, n, (uint64_t)(me * 2000 + n + way), 0);
		}
}

// The memory of a put may be changed as soon as the wait has returned, of a blocking one at once.
static void reused(void)
{
	char want[3000], got[3000];
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	for (int n = 1; n <= (int)sizeof want; n = n * 3 / 2 + 1)
		for (int kind = 0; kind < 4; kind++) {
			char *local = kind & 1 ? arena : private;
			check_fill(want, (size_t)n, (uint64_t)(n + kind));
			memcpy(local, want, (size_t)n);
			if (kind & 2) {
				CHECK_OK(ARMCI_Put(local, far(0), n, peer));
			} else {
				CHECK_OK(ARMCI_NbPut(local, far(0), n, peer, &h));
				CHECK_OK(ARMCI_Wait(&h));
			}
			memset(local, 0xdd, (size_t)n);
			CHECK_OK(ARMCI_Get(far(0), got, n, peer));
			CHECK_MEM(got, want, (size_t)n);
		}
}

// One handle for contiguous, strided and accumulating calls, to the peer and to this rank.
static void mixed(void)
{
	int stride = 64, count[2] = {16, 8};
	double one = 1.0, *sum = (double *)(far(0) + 4096), *mine = (double *)(arena + 8192);
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	for (int round = 0; round < 20; round++) {
		memset(arena, round + 1, 4096);
		*mine = 0;
		CHECK_OK(ARMCI_Put(mine, sum, sizeof *mine, peer));
		*mine = 2;
		CHECK_OK(ARMCI_NbPut(arena, far(0), 2048, peer, &h));
		CHECK_OK(ARMCI_NbAcc(ARMCI_ACC_DBL, &one, mine, sum, sizeof *mine, peer, &h));
		CHECK_OK(ARMCI_NbPutS(arena, &stride, far(0) + 2048, &stride, count, 1, peer, &h));
		CHECK_OK(ARMCI_NbPut(arena, base[me] + (size_t)(me * THREADS + 1) * ROOM,
			512, me, &h));
		CHECK_OK(ARMCI_NbPut(arena + 2048, far(0) + 3072, 1024, peer, &h));
		CHECK_OK(ARMCI_Wait(&h));
		CHECK_OK(ARMCI_NbGet(far(0), private, 4096, peer, &h));
		CHECK_OK(ARMCI_NbGet(sum, private + 4096, sizeof *sum, peer, &h));
		CHECK_OK(ARMCI_Wait(&h));
		CHECK_MEM(private, arena, 2048);
		CHECK_MEM(private + 3072, arena + 2048, 1024);
		for (int row = 0; row < count[1]; row++)
			CHECK_MEM(private + 2048 + row * stride, arena, (size_t)count[0]);
		CHECK(*(double *)(private + 4096) == 2);
	}
}

// What was put without a handle has arrived after a fence: the peer is told, and looks.
static void fenced(void)
{
	for (int round = 1; round <= 30; round++) {
		int n = round * 1500;
		memset(arena, round, (size_t)n);
		for (int at = 0; at < n; at += 1500)
			CHECK_OK(ARMCI_NbPut(arena + at, far(0) + at, 1500, peer, NULL));
		if (round % 3 == 0)
			ARMCI_Fence(peer);
		ARMCI_Barrier();
		int from = (me + np - 1) % np;
		char *came = base[me] + (size_t)(from * THREADS) * ROOM;
		for (int i = 0; i < n; i++) CHECK_INT(came[i], round);
		ARMCI_Barrier();
	}
}

// A patch of rows there and back, blocking or with a handle; from rows that are apart on both
// sides, or on one.
static void patch(char *local, int rows, int bytes, int apart, int nonblocking)
{
	int here = apart & 1 ? bytes + 24 : bytes, there = apart & 2 ? bytes + 40 : bytes;
	int count[2] = {bytes, rows}, size = rows * here;
	char *want = local, *got = local + ROOM / 2;
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	check_fill(want, (size_t)size, (uint64_t)(rows + bytes));
	memset(got, 0xee, (size_t)size);
	if (nonblocking) {
		CHECK_OK(ARMCI_NbPutS(want, &here, far(0), &there, count, 1, peer, &h));
		CHECK_OK(ARMCI_Wait(&h));
		CHECK_OK(ARMCI_NbGetS(far(0), &there, got, &here, count, 1, peer, &h));
		CHECK_OK(ARMCI_Wait(&h));
	} else {
		CHECK_OK(ARMCI_PutS(want, &here, far(0), &there, count, 1, peer));
		CHECK_OK(ARMCI_GetS(far(0), &there, got, &here, count, 1, peer));
	}
	for (int i = 0; i < rows; i++) {
		CHECK_MEM(got + i * here, want + i * here, (size_t)bytes);
		for (char *k = got + i * here + bytes; k < got + (i + 1) * here; k++)
			CHECK_INT(*(unsigned char *)k, 0xee);
	}
}

static void patches(void)
{
	static const int rows[] = {2, 16, 33, 64, 100, 300}, bytes[] = {8, 24, 256, 264, 1000};
	for (int apart = 1; apart < 4; apart++)
		for (int i = 0; i < 6; i++)
			for (int k = 0; k < 5; k++) {
				patch(arena, rows[i], bytes[k], apart, i % 2);
				patch(private, rows[i], bytes[k], apart, k % 2);
				patch(arena, rows[i], bytes[k], apart, (i + 1) % 2);
			}
}

// Segments at odd distances, more than are posted at a time. The memory of the put is used again at
// once, the list of the nonblocking get as soon as the call has returned.
static void segments(char *local, int n, int bytes, int nonblocking)
{
	static void *here[MANY], *there[MANY], *back[MANY], *list[MANY];
	static char want[ROOM / 2];
	for (int i = 0; i < n; i++) {
		here[i] = local + i * (bytes + i % 3);
		there[i] = far(0) + (n - 1 - i) * (bytes + 8);
		list[i] = back[i] = local + ROOM / 2 + i * (bytes + 5);
	}
	armci_giov_t put = {.src_ptr_array = here, .dst_ptr_array = there}, get = put;
	put.bytes = get.bytes = bytes;
	put.ptr_array_len = get.ptr_array_len = n;
	get.src_ptr_array = there;
	get.dst_ptr_array = list;
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	check_fill(local, ROOM / 2, (uint64_t)(n + bytes));
	memcpy(want, local, sizeof want);
	CHECK_OK(ARMCI_PutV(&put, 1, peer));
	memset(local, 0xee, ROOM);
	if (nonblocking) {
		CHECK_OK(ARMCI_NbGetV(&get, 1, peer, &h));
		memset(list, 0, sizeof list);
		CHECK_OK(ARMCI_Wait(&h));
	} else {
		CHECK_OK(ARMCI_GetV(&get, 1, peer));
	}
	for (int i = 0; i < n; i++)
		CHECK_MEM(back[i], want + ((char *)here[i] - local), (size_t)bytes);
}

// Of many megabytes, blocking and not; then as much that overlaps, in the order of the calls.
static void large(void)
{
	static const int sizes[] = {(1 << 20) - 1, (1 << 20) + 1, 5 << 20, 16 << 20, LONG_ROOM - 5};
	char **there = calloc((size_t)np, sizeof *there);
	char *local = ARMCI_Malloc_local(2 * LONG_ROOM), *got = local + LONG_ROOM;
	CHECK_OK(ARMCI_Malloc((void **)there, LONG_ROOM));
	for (int i = 0; i < 10; i++) {
		int n = sizes[i / 2];
		armci_hdl_t h;
		ARMCI_INIT_HANDLE(&h);
		check_fill(local, (size_t)n, (uint64_t)i);
		memset(got, 0, (size_t)n);
		if (i % 2) {
			CHECK_OK(ARMCI_Put(local, there[peer], n, peer));
			CHECK_OK(ARMCI_Get(there[peer], got, n, peer));
		} else {
			CHECK_OK(ARMCI_NbPut(local, there[peer], n, peer, &h));
			CHECK_OK(ARMCI_NbGet(there[peer], got, n, peer, &h));
			CHECK_OK(ARMCI_Wait(&h));
			CHECK_OK(ARMCI_Get(there[peer], got, n, peer));
		}
		CHECK_MEM(got, local, (size_t)n);
	}
	ARMCI_Barrier();
	ARMCI_Free(there[me]);
	ARMCI_Free_local(local);
	free(there);
}

static void *thread(void *arg)
{
	int i = *(int *)arg;
	char *mine = i % 2 ? arena + (size_t)i * ROOM : private + (size_t)i * ROOM;
	for (int round = 0; round < 8; round++)
		many(mine, round % 2 ? EACH : ONE, 100, (uint64_t)(round * 10 + i + me * 100), i);
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];
	int number[THREADS];
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		CHECK(pthread_create(&t[i], NULL, thread, &number[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	peer = (me + 1) % np;
	base = calloc((size_t)np, sizeof *base);
	CHECK_OK(ARMCI_Malloc((void **)base, (size_t)np * THREADS * ROOM));
	arena = ARMCI_Malloc_local(THREADS * ROOM);
	private = malloc(THREADS * ROOM);
	sides();
	reused();
	mixed();
	patches();
	for (int n = 1; n <= MANY; n = n * 2 + 1)
		for (int bytes = 8; bytes <= 1200; bytes = bytes * 3 + 8)
			for (int kind = 0; kind < 4; kind++)
				segments(kind & 1 ? private : arena, n, bytes, kind & 2);
	fenced();
	large();
	threads();
	ARMCI_Barrier();
	free(private);
	ARMCI_Free_local(arena);
	ARMCI_Free(base[me]);
	free(base);
	return check_end("requests");
}
