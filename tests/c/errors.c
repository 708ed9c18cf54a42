// SPDX-License-Identifier: BSD-3-Clause
// errors.c - every bad argument of a function with a return code: the documented code, one line
// naming function, argument and rank, and nothing changed. What ends the job is in tests/fault.
// Needs ARMCI_ERRORS=return.
#include "errors.h"
#include <armcix.h>

enum { BYTES = 256 };

static char *far, near[1 << 12], *local_only; // far: the right neighbour's memory
static int peer, one = 1, stride[8] = {64, 64, 64, 64, 64, 64, 64, 64},
		 count[10] = {8, 2, 1, 1, 1, 1, 1, 1, 1, 1};
static int most[4] = {1 << 16, 1 << 16, 1 << 16, 1 << 16}, more[3] = {24, 1 << 30, 1 << 30},
	   still[8];
static void *const none = (void *)-1; // MAP_FAILED
static int low[2] = {8, -1}, lower[2] = {-8, 1};
static double scale = 1;
static void *ones_src[2] = {near, near + 8}, *ones_dst[2];
static armci_hdl_t h;

// A vector descriptor.
static armci_giov_t *giov(void **src, void **dst, int bytes, int n)
{
	static armci_giov_t d;
	d = (armci_giov_t){.src_ptr_array = src,
		.dst_ptr_array = dst,
		.bytes = bytes,
		.ptr_array_len = n};
	return &d;
}

static void contiguous(void)
{
	BAD(FAIL, ARMCI_Put, "src", ARMCI_Put(NULL, far, 8, peer));
	BAD(FAIL, ARMCI_Put, "dst", ARMCI_Put(near, NULL, 8, peer));
	BAD(FAIL3, ARMCI_Put, "bytes", ARMCI_Put(near, far, -1, peer));
	BAD(FAIL5, ARMCI_Put, "proc", ARMCI_Put(near, far, 8, np));
	BAD(FAIL5, ARMCI_Put, "proc", ARMCI_Put(near, far, 8, -1));
	BAD_FAR(FAIL8, ARMCI_Put, "dst", ARMCI_Put(near, local_only, 8, peer));
	BAD(FAIL8, ARMCI_Put, "dst", ARMCI_Put(near, far + BYTES - 4, 1 << 20, peer));
	BAD(FAIL8, ARMCI_Put, "dst", ARMCI_Put(near, none, 8, peer));
	BAD(FAIL8, ARMCI_Put, "dst", ARMCI_Put(near, none, 8, me));
	BAD(FAIL8, ARMCI_Get, "src", ARMCI_Get((char *)none - 64, near, 1 << 10, peer));
	BAD(FAIL, ARMCI_Put, "src", ARMCI_Put(none, far, 8, peer));
	BAD(FAIL, ARMCI_Get, "src", ARMCI_Get(NULL, near, 8, peer));
	BAD(FAIL, ARMCI_Get, "dst", ARMCI_Get(far, NULL, 8, peer));
	BAD(FAIL3, ARMCI_Get, "bytes", ARMCI_Get(far, near, -8, peer));
	BAD(FAIL5, ARMCI_Get, "proc", ARMCI_Get(far, near, 8, 1000000));
	BAD(FAIL8, ARMCI_Get, "src", ARMCI_Get(far - (1 << 30), near, 8, peer));
	// the memory of another rank; on another node its address may be one of mine too
	if (np > 1 && ARMCI_Same_node(peer))
		BAD(FAIL8, ARMCI_Get, "src", ARMCI_Get(far, near, 8, me));
}

// Mistakes among what is collected are told at the call; what came before them is carried out.
static void collected(void)
{
	char same[32];
	memset(same, 0x42, sizeof same);
	ARMCI_INIT_HANDLE(&h);
	ARMCI_SET_AGGREGATE_HANDLE(&h);
	for (int i = 0; i < 4; i++) {
		CHECK_OK(ARMCI_NbPut(same, far + 8 * i, 8, peer, &h));
		BAD(FAIL, ARMCI_NbPut, "src", ARMCI_NbPut(NULL, far, 8, peer, &h));
		CHECK_OK(ARMCI_NbPut(same, far + 64, 8, peer, &h));
		CHECK_OK(ARMCI_NbPut(same, far + 72, 8, peer, &h));
		BAD(FAIL, ARMCI_NbPut, "dst", ARMCI_NbPut(same, NULL, 8, peer, &h));
		BAD(FAIL3, ARMCI_NbPut, "bytes", ARMCI_NbPut(same, far, -8, peer, &h));
		BAD(FAIL5, ARMCI_NbPut, "proc", ARMCI_NbPut(same, far, 8, np, &h));
		CHECK_OK(ARMCI_NbPut(same, far + 80, 8, peer, &h));
		BAD(FAIL8, ARMCI_NbPut, "dst",
			ARMCI_NbPut(same, far + BYTES - 4, 1 << 20, peer, &h));
	}
	memset(same + 8, 0, 16);
	CHECK_OK(ARMCI_NbGet(far, same + 8, 8, peer, &h));
	CHECK_OK(ARMCI_NbGet(far + 8, same + 16, 8, peer, &h));
	BAD(FAIL, ARMCI_NbGet, "dst", ARMCI_NbGet(far, NULL, 8, peer, &h));
	CHECK_OK(ARMCI_Wait(&h));
	ARMCI_UNSET_AGGREGATE_HANDLE(&h);
	for (size_t i = 0; i < sizeof same; i++)
		CHECK_INT(same[i], 0x42);
}

static void accumulate(void)
{
	BAD(FAIL, ARMCI_Acc, "scale", ARMCI_Acc(ARMCI_ACC_DBL, NULL, near, far, 8, peer));
	BAD(FAIL, ARMCI_Acc, "src", ARMCI_Acc(ARMCI_ACC_DBL, &scale, NULL, far, 8, peer));
	BAD(FAIL7, ARMCI_Acc, "optype: 17", ARMCI_Acc(17, &scale, near, far, 8, peer));
	BAD(FAIL3, ARMCI_Acc, "bytes", ARMCI_Acc(ARMCI_ACC_DBL, &scale, near, far, 12, peer));
	BAD(FAIL3, ARMCI_Acc, "bytes", ARMCI_Acc(ARMCI_ACC_DCP, &scale, near, far, 8, peer));
	BAD(FAIL3, ARMCI_Acc, "bytes", ARMCI_Acc(ARMCI_ACC_INT, &scale, near, far, -4, peer));
	BAD(FAIL5, ARMCI_Acc, "proc", ARMCI_Acc(ARMCI_ACC_INT, &scale, near, far, 4, np));
	BAD_FAR(FAIL8, ARMCI_Acc, "dst", ARMCI_Acc(ARMCI_ACC_INT, &one, near, local_only, 4, peer));
}

// More bytes than 64 bits can say, upon each other, and addresses that there are not.
static void absurd(void)
{
	BAD(FAIL4, ARMCI_PutS, "count", ARMCI_PutS(near, still, far, still, most, 3, peer));
	BAD(FAIL4, ARMCI_GetS, "count", ARMCI_GetS(far, still, near, still, more, 2, peer));
	BAD(FAIL4, ARMCI_AccS, "count",
		ARMCI_AccS(ARMCI_ACC_DBL, &scale, near, still, far, still, more, 2, me));
	BAD(FAIL4, ARMCI_NbPutS, "count",
		ARMCI_NbPutS(near, still, near, still, most, 3, me, NULL));
	BAD(FAIL8, ARMCI_PutS, "dst_ptr", ARMCI_PutS(near, stride, none, stride, count, 1, peer));
	BAD(FAIL8, ARMCI_GetS, "src_ptr", ARMCI_GetS(none, stride, near, stride, count, 1, me));
	BAD(FAIL, ARMCI_PutS, "src_ptr", ARMCI_PutS(none, stride, far, stride, count, 1, peer));
	void *bad[2] = {far, none};
	BAD(FAIL8, ARMCI_PutV, "dst_ptr_array", ARMCI_PutV(giov(ones_src, bad, 4, 2), 1, peer));
	BAD(FAIL8, ARMCI_GetV, "src_ptr_array", ARMCI_GetV(giov(bad + 1, ones_src, 4, 1), 1, me));
	BAD(FAIL, ARMCI_PutV, "darr", ARMCI_PutV(giov(bad + 1, ones_dst, 4, 1), 1, peer));
}

static void strided(void)
{
	BAD(FAIL, ARMCI_PutS, "src_ptr", ARMCI_PutS(NULL, stride, far, stride, count, 1, peer));
	BAD(FAIL, ARMCI_PutS, "dst_ptr", ARMCI_PutS(near, stride, NULL, stride, count, 1, peer));
	BAD(FAIL2, ARMCI_PutS, "src_stride_arr",
		ARMCI_PutS(near, NULL, far, stride, count, 1, peer));
	BAD(FAIL2, ARMCI_PutS, "dst_stride_arr",
		ARMCI_PutS(near, stride, far, NULL, count, 1, peer));
	BAD(FAIL2, ARMCI_PutS, "count", ARMCI_PutS(near, stride, far, stride, NULL, 1, peer));
	BAD(FAIL4, ARMCI_PutS, "stride_levels",
		ARMCI_PutS(near, stride, far, stride, count, -1, peer));
	BAD(FAIL4, ARMCI_PutS, "stride_levels",
		ARMCI_PutS(near, stride, far, stride, count, 9, peer));
	BAD(FAIL4, ARMCI_PutS, "count", ARMCI_PutS(near, stride, far, stride, low, 1, peer));
	BAD(FAIL3, ARMCI_PutS, "count", ARMCI_PutS(near, stride, far, stride, lower, 1, peer));
	BAD(FAIL5, ARMCI_PutS, "proc", ARMCI_PutS(near, stride, far, stride, count, 1, -3));
	BAD_FAR(FAIL8, ARMCI_PutS, "dst_ptr",
		ARMCI_PutS(near, stride, local_only, stride, count, 1, peer));
	BAD(FAIL2, ARMCI_GetS, "count", ARMCI_GetS(far, stride, near, stride, NULL, 1, peer));
	BAD(FAIL5, ARMCI_GetS, "proc", ARMCI_GetS(far, stride, near, stride, count, 1, np));
	BAD_FAR(FAIL8, ARMCI_GetS, "src_ptr",
		ARMCI_GetS(local_only, stride, near, stride, count, 1, peer));
	BAD(FAIL7, ARMCI_AccS, "optype",
		ARMCI_AccS(99, &scale, near, stride, far, stride, count, 1, peer));
	int odd[2] = {12, 2};
	BAD(FAIL3, ARMCI_AccS, "count",
		ARMCI_AccS(ARMCI_ACC_DBL, &scale, near, stride, far, stride, odd, 1, peer));
}

static void vector(void)
{
	BAD(FAIL2, ARMCI_PutV, "darr", ARMCI_PutV(NULL, 1, peer));
	BAD(FAIL4, ARMCI_PutV, "len", ARMCI_PutV(giov(ones_src, ones_dst, 8, 2), -1, peer));
	BAD(FAIL2, ARMCI_PutV, "src_ptr_array", ARMCI_PutV(giov(NULL, ones_dst, 8, 2), 1, peer));
	BAD(FAIL2, ARMCI_PutV, "dst_ptr_array", ARMCI_PutV(giov(ones_src, NULL, 8, 2), 1, peer));
	BAD(FAIL3, ARMCI_PutV, "bytes", ARMCI_PutV(giov(ones_src, ones_dst, -8, 2), 1, peer));
	BAD(FAIL4, ARMCI_PutV, "ptr_array_len",
		ARMCI_PutV(giov(ones_src, ones_dst, 8, -2), 1, peer));
	BAD(FAIL5, ARMCI_PutV, "proc", ARMCI_PutV(giov(ones_src, ones_dst, 8, 2), 1, np));
	BAD_FAR(FAIL8, ARMCI_PutV, "dst_ptr_array",
		ARMCI_PutV(giov(ones_src, ones_src, 8, 2), 1, peer));
	BAD_FAR(FAIL8, ARMCI_GetV, "src_ptr_array",
		ARMCI_GetV(giov(ones_src, ones_src, 8, 2), 1, peer));
	BAD(FAIL7, ARMCI_AccV, "op",
		ARMCI_AccV(50, &scale, giov(ones_src, ones_dst, 8, 2), 1, peer));
	BAD(FAIL3, ARMCI_AccV, "bytes",
		ARMCI_AccV(ARMCI_ACC_DBL, &scale, giov(ones_src, ones_dst, 4, 2), 1, peer));
}

static void atomics(void)
{
	long v = 0;
	armcix_event_t *event = (armcix_event_t *)far, *private = (armcix_event_t *)local_only;
	BAD(FAIL7, ARMCIX_Atomic, "op: 0 is no operation",
		ARMCIX_Atomic(0, 8, &v, far, &v, &v, peer));
	BAD(FAIL7, ARMCIX_Atomic, "op: 7 is no operation",
		ARMCIX_Atomic(7, 4, NULL, far, &v, &v, peer));
	BAD(FAIL7, ARMCIX_Atomic, "bytes: 2",
		ARMCIX_Atomic(ARMCIX_ADD, 2, &v, far, &v, NULL, peer));
	BAD(FAIL7, ARMCIX_Atomic, "bytes: -8",
		ARMCIX_Atomic(ARMCIX_ADD, -8, NULL, far, &v, NULL, peer));
	BAD(FAIL7, ARMCIX_Atomic, "prem",
		ARMCIX_Atomic(ARMCIX_OR, 4, NULL, far + 2, &v, NULL, peer));
	BAD(FAIL7, ARMCIX_Atomic, "prem",
		ARMCIX_Atomic(ARMCIX_XOR, 8, &v, far + 4, &v, NULL, peer));
	BAD(FAIL, ARMCIX_Atomic, "operand: null",
		ARMCIX_Atomic(ARMCIX_ADD, 8, &v, far, NULL, NULL, peer));
	BAD(FAIL, ARMCIX_Atomic, "compare: null",
		ARMCIX_Atomic(ARMCIX_CAS, 8, &v, far, &v, NULL, peer));
	BAD(FAIL, ARMCIX_Atomic, "prem", ARMCIX_Atomic(ARMCIX_AND, 8, &v, NULL, &v, NULL, peer));
	BAD(FAIL5, ARMCIX_Atomic, "proc", ARMCIX_Atomic(ARMCIX_ADD, 8, &v, far, &v, NULL, np));
	BAD(FAIL5, ARMCIX_Atomic, "proc", ARMCIX_Atomic(ARMCIX_ADD, 4, NULL, far, &v, NULL, -1));
	BAD_FAR(FAIL8, ARMCIX_Atomic, "prem",
		ARMCIX_Atomic(ARMCIX_SWAP, 8, &v, local_only, &v, NULL, peer));
	BAD(FAIL8, ARMCIX_Atomic, "prem",
		ARMCIX_Atomic(ARMCIX_ADD, 8, NULL, (char *)none - 7, &v, NULL, me));
	BAD(FAIL8, ARMCIX_Event_add, "event",
		ARMCIX_Event_add((armcix_event_t *)(far + 2), 1, peer));
	BAD(FAIL, ARMCIX_Event_add, "event", ARMCIX_Event_add(NULL, 1, peer));
	BAD(FAIL5, ARMCIX_Event_add, "proc", ARMCIX_Event_add(event, 1, np));
	BAD(FAIL8, ARMCIX_Event_add, "event", ARMCIX_Event_add(private, 1, me));
	BAD(FAIL8, ARMCIX_Event_wait, "event", ARMCIX_Event_wait(private, 0, 0));
	BAD(FAIL8, ARMCIX_Event_raise, "event",
		ARMCIX_Event_raise((armcix_event_t *)(far + 2), event, peer));
	BAD(FAIL8, ARMCIX_Event_raise, "record", ARMCIX_Event_raise(event, private, peer));
	BAD(FAIL5, ARMCIX_Event_raise, "proc", ARMCIX_Event_raise(event, event, np));
	BAD(FAIL5, ARMCIX_Event_await, "proc", ARMCIX_Event_await(event, event, 0, 0, np));
	BAD(FAIL8, ARMCIX_Event_await, "event", ARMCIX_Event_await(private, event, 0, 0, me));
	BAD(FAIL8, ARMCIX_Event_wait, "event", ARMCIX_Event_wait(NULL, 0, -1));
	BAD(FAIL, ARMCIX_Wait_until, "met", ARMCIX_Wait_until(NULL, NULL, -1));
	BAD(FAIL5, ARMCIX_Wake, "proc", ARMCIX_Wake(np));
	BAD(FAIL8, ARMCIX_Event_wait, "event",
		ARMCIX_Event_wait((armcix_event_t *)(far + 2), 0, 1));
	CHECK_INT(v, 0);
}

static void others(void)
{
	long v = 0;
	BAD(FAIL7, ARMCI_Rmw, "op: 55 is no operation", ARMCI_Rmw(55, &v, far, 1, peer));
	BAD(FAIL7, ARMCI_Rmw, "prem", ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &v, far + 1, 1, peer));
	BAD(FAIL7, ARMCI_Rmw, "prem", ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &v, far + 4, 1, peer));
	BAD(FAIL, ARMCI_Rmw, "ploc", ARMCI_Rmw(ARMCI_SWAP, NULL, far, 1, peer));
	BAD(FAIL, ARMCI_Rmw, "prem", ARMCI_Rmw(ARMCI_SWAP, &v, NULL, 1, peer));
	BAD(FAIL5, ARMCI_Rmw, "proc", ARMCI_Rmw(ARMCI_SWAP, &v, far, 1, np));
	BAD_FAR(FAIL8, ARMCI_Rmw, "prem", ARMCI_Rmw(ARMCI_SWAP, &v, local_only, 1, peer));
	BAD(FAIL8, ARMCI_Rmw, "prem", ARMCI_Rmw(ARMCI_SWAP, &v, (char *)none - 3, 1, me));
	atomics();
	BAD(FAIL5, ARMCI_PutValueInt, "proc", ARMCI_PutValueInt(1, far, np));
	BAD_FAR(FAIL8, ARMCI_PutValueLong, "dst", ARMCI_PutValueLong(1, local_only, peer));
	BAD(FAIL, ARMCI_PutValueDouble, "dst", ARMCI_PutValueDouble(1, NULL, peer));
	BAD(FAIL5, ARMCI_NbPut, "proc", ARMCI_NbPut(near, far, 8, np, &h));
	BAD(FAIL3, ARMCI_NbGet, "bytes", ARMCI_NbGet(far, near, -1, peer, NULL));
	BAD(FAIL4, ARMCI_NbPutS, "stride_levels",
		ARMCI_NbPutS(near, stride, far, stride, count, 10, peer, &h));
	BAD_FAR(FAIL8, ARMCI_NbPutValueInt, "dst", ARMCI_NbPutValueInt(1, local_only, peer, &h));
	BAD(FAIL, ARMCI_Wait, "nb_handle", ARMCI_Wait(NULL));
	BAD(FAIL, ARMCI_Test, "nb_handle", ARMCI_Test(NULL));
	BAD(FAIL5, ARMCI_WaitProc, "proc", ARMCI_WaitProc(np));
	BAD_FAR(FAIL8, ARMCI_Put_flag, "f",
		ARMCI_Put_flag(near, far, 8, (int *)(void *)local_only, 1, peer));
	BAD(FAIL5, armci_notify, "proc", armci_notify(np));
	BAD(FAIL5, armci_notify_wait, "proc", armci_notify_wait(-1, &one));
	BAD(FAIL8, ARMCI_Free_local, "ptr", ARMCI_Free_local(near));
}

// Collective calls fail alike on every rank.
static void collective(void)
{
	void **base = check_alloc(sizeof(void *) * (size_t)np);
	ARMCI_Group g;
	int self = me, rank;
	BAD_ONCE(FAIL3, ARMCI_Malloc, "bytes", ARMCI_Malloc(base, -1));
	BAD_ONCE(FAIL, ARMCI_Malloc_memdev, "device", ARMCI_Malloc_memdev(base, 64, "hbm"));
	BAD_ONCE(FAIL8, ARMCI_Free, "ptr", ARMCI_Free(near));
	BAD_ONCE(FAIL, ARMCI_Destroy_mutexes, "", ARMCI_Destroy_mutexes());
	BAD_ONCE(FAIL3, ARMCI_Create_mutexes, "num", ARMCI_Create_mutexes(-1));
	CHECK_OK(ARMCI_Create_mutexes(1));
	BAD_ONCE(FAIL, ARMCI_Create_mutexes, "", ARMCI_Create_mutexes(1));
	CHECK_OK(ARMCI_Destroy_mutexes());
	ARMCI_Group_create(1, &self, &g);
	BAD(FAIL, ARMCI_Malloc_group_memdev, "device",
		ARMCI_Malloc_group_memdev(base, 64, &g, "DRAM"));
	CHECK_OK(ARMCI_Malloc_group(base, 64, &g));
	ARMCI_Group w;
	ARMCI_Group_get_world(&w);
	if (np > 1)
		BAD_ONCE(FAIL, ARMCI_Free_group, "group", ARMCI_Free_group(base[0], &w));
	CHECK_OK(ARMCI_Free_group(base[0], &g));
	ARMCI_Group stale = g;
	ARMCI_Group_free(&g);
	BAD(FAIL, ARMCI_Group_rank, "group", ARMCI_Group_rank(&stale, &rank));
	BAD(FAIL, ARMCI_Malloc_group, "group", ARMCI_Malloc_group(base, 64, &stale));
	free(base);
}

static int never(void *arg)
{
	(void)arg;
	return 0;
}

static void closed(void)
{
	void *base[1024];
	CHECK(np <= 1024);
	BAD(FAIL, ARMCI_Put, "", ARMCI_Put(near, near, 8, 0));
	BAD(FAIL, ARMCI_GetS, "", ARMCI_GetS(near, stride, near, stride, count, 1, 0));
	BAD(FAIL, ARMCI_Rmw, "", ARMCI_Rmw(ARMCI_SWAP, near, near, 0, 0));
	BAD(FAIL, ARMCIX_Atomic, "", ARMCIX_Atomic(ARMCIX_ADD, 8, NULL, near, near, NULL, 0));
	BAD(FAIL, ARMCIX_Event_add, "", ARMCIX_Event_add((armcix_event_t *)near, 1, 0));
	BAD(FAIL, ARMCIX_Event_wait, "", ARMCIX_Event_wait((armcix_event_t *)near, 0, 0));
	BAD(FAIL, ARMCIX_Event_raise, "",
		ARMCIX_Event_raise((armcix_event_t *)near, (armcix_event_t *)near, 0));
	BAD(FAIL, ARMCIX_Event_await, "",
		ARMCIX_Event_await((armcix_event_t *)near, (armcix_event_t *)near, 0, 0, 0));
	BAD(FAIL, ARMCIX_Wait_until, "", ARMCIX_Wait_until(never, NULL, 0));
	BAD(FAIL, ARMCIX_Wake, "", ARMCIX_Wake(0));
	BAD(FAIL, ARMCI_Malloc, "", ARMCI_Malloc(base, 8));
	BAD(FAIL, ARMCI_WaitAll, "", ARMCI_WaitAll());
	BAD(FAIL, ARMCI_Create_mutexes, "", ARMCI_Create_mutexes(1));
}

// Memory that small transfers have just found.
static void freed(void)
{
	void **base = check_malloc(64);
	char *gone = base[peer];
	for (int i = 0; i < 4; i++) {
		CHECK_OK(ARMCI_Put(near, gone, 8, peer));
		CHECK_OK(ARMCI_Get(gone, near, 8, peer));
	}
	ARMCI_AllFence();
	check_free(base);
	ARMCI_Barrier();
	BAD(FAIL8, ARMCI_Get, "src", ARMCI_Get(gone, near, 8, peer));
}

// What goes from one allocation into the next is refused, whole, though both were used before. Rows
// and segments, too: the last is outside.
static void neighbours(void)
{
	enum { EACH = 1 << 16, SEGMENTS = 50 };
	static void *src[SEGMENTS], *dst[SEGMENTS];
	char **a = (char **)check_malloc(EACH), **b = (char **)check_malloc(EACH);
	char *local = ARMCI_Malloc_local(2 * EACH), *end = a[peer] + EACH;
	memset(local, 0x11, 2 * EACH);
	for (int i = 0; i < 6; i++) { // now C knows them, if it can
		int rows = 4, apart = EACH / 4, shape[2] = {64, rows};
		CHECK_OK(ARMCI_Put(local, a[peer], EACH, peer));
		CHECK_OK(ARMCI_Put(local, b[peer], EACH, peer));
		CHECK_OK(ARMCI_PutS(local, &apart, a[peer], &apart, shape, 1, peer));
		CHECK_OK(ARMCI_PutS(local, &apart, b[peer], &apart, shape, 1, peer));
	}
	memset(local, 0x22, 2 * EACH);
	int apart = 1024, shape[2] = {512, SEGMENTS};
	for (int i = 0; i < SEGMENTS; i++) {
		src[i] = local + 1024 * i;
		dst[i] = end - 1024 * (SEGMENTS - 1 - i) - 256;
	}
	BAD(FAIL8, ARMCI_Put, "dst", ARMCI_Put(local, end - 4096, 16384, peer));
	BAD(FAIL8, ARMCI_NbPut, "dst", ARMCI_NbPut(local, end - 4096, 16384, peer, NULL));
	char *rows = end - 49 * 1024 - 256;
	BAD(FAIL8, ARMCI_PutS, "dst_ptr", ARMCI_PutS(local, &apart, rows, &apart, shape, 1, peer));
	BAD(FAIL8, ARMCI_PutV, "dst_ptr_array", ARMCI_PutV(giov(src, dst, 512, SEGMENTS), 1, peer));
	BAD(FAIL8, ARMCI_Get, "src", ARMCI_Get(end - 4096, local, 16384, peer));
	ARMCI_AllFence();
	CHECK_OK(ARMCI_Get(a[peer], local, EACH, peer));
	for (int i = 0; i < EACH; i++) CHECK_INT(local[i], 0x11);
	ARMCI_Barrier();
	ARMCI_Free_local(local);
	check_free((void **)b);
	check_free((void **)a);
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	me = armci_msg_me();
	np = armci_msg_nproc();
	closed();
	CHECK_OK(ARMCI_Init());
	void **base = check_malloc(BYTES);
	peer = (me + 1) % np;
	far = base[peer];
	local_only = check_alloc(1 << 21);
	ones_dst[0] = far;
	ones_dst[1] = far + 64;
	memset(base[me], 0x42, BYTES);
	ARMCI_Barrier();
	contiguous();
	collected();
	accumulate();
	strided();
	absurd();
	vector();
	if (np > 1)
		neighbours();
	others();
	ARMCI_Barrier();
	for (int i = 0; i < BYTES; i++)
		CHECK_INT(((char *)base[me])[i], 0x42);
	collective();
	freed();
	check_free(base);
	ARMCI_Barrier();
	ARMCI_Finalize();
	closed();
	if (failures)
		check_fail(__FILE__, __LINE__, "%d bad calls were not answered as documented",
			failures);
	if (me == 0)
		printf("ok errors (%d ranks)\n", np);
	armci_msg_finalize();
	return 0;
}
