// SPDX-License-Identifier: BSD-3-Clause
// shared_handle.c - several nonblocking calls on one handle that is not an aggregate, to several
// ranks, near ones and the own one among them, of all kinds: ARMCI_Wait and ARMCI_Test mean all of
// them, in whatever order they complete.
#include "check.h"

enum { LONGS = 1 << 18, LARGE = LONGS * 8, SMALL = 9248, PATCH = 64 };

// Of each rank: what others read; then for each other rank a large slot to write.
static int64_t **base, *buffer;

static int64_t *slot(int rank) { return base[rank] + (size_t)(1 + me) * LONGS; }

static int64_t expected(int rank, int i) { return rank * 1000003LL + i; }

static int64_t *part(int i) { return buffer + (size_t)i * LONGS; }

static void check_part(int i, int rank, int n)
{
	for (int k = 0; k < n; k++)
		CHECK_INT(part(i)[k], expected(rank, k));
}

// Large gets from every rank, then a small one from this rank, which is complete at once. The
// handle holds garbage before.
static void gets(int own_last, int by_test)
{
	armci_hdl_t h;
	memset(&h, 0x5a, sizeof h);
	memset(buffer, 0, (size_t)LARGE * ((size_t)np + 1));
	for (int i = 0; i < np; i++) {
		int from = (me + 1 + i) % np;
		CHECK_OK(ARMCI_NbGet(base[from], part(i), LARGE, from, &h));
	}
	int from = own_last ? me : (me + 1) % np;
	CHECK_OK(ARMCI_NbGet(base[from], part(np), 8, from, &h));
	if (by_test) {
		int code;
		do {
			code = ARMCI_Test(&h);
			CHECK(code == 0 || code == 1);
		} while (code);
	} else {
		CHECK_OK(ARMCI_Wait(&h));
	}
	for (int i = 0; i < np; i++)
		check_part(i, (me + 1 + i) % np, LONGS);
	check_part(np, from, 1);
	CHECK_OK(ARMCI_Wait(&h));
	CHECK_INT(ARMCI_Test(&h), 0);
}

// Stores of several sizes to every rank; the source is overwritten as soon as the wait returns.
static void puts_and_values(void)
{
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	for (int i = 0; i < LONGS; i++) part(0)[i] = expected(me, i);
	for (int to = 0; to < np; to++) {
		CHECK_OK(ARMCI_NbPut(part(0), slot(to), LARGE - SMALL, to, &h));
		CHECK_OK(ARMCI_NbPut(part(0) + (LARGE - SMALL) / 8, slot(to) + (LARGE - SMALL) / 8,
			SMALL - 8, to, &h));
		CHECK_OK(ARMCI_NbPutValueLong(expected(me, LONGS - 1), slot(to) + LONGS - 1, to,
			&h));
	}
	CHECK_OK(ARMCI_Wait(&h));
	memset(part(0), 0xff, LARGE);
	ARMCI_Barrier();
	for (int from = 0; from < np; from++)
		for (int i = 0; i < LONGS; i++)
			CHECK_INT(base[me][(size_t)(1 + from) * LONGS + (size_t)i],
				expected(from, i));
	ARMCI_Barrier();
}

// Gets, puts and accumulates of all shapes under one handle, each with memory of its own.
static void kinds(int peer)
{
	armci_hdl_t h;
	long scale = 3;
	int64_t *to = slot(peer), *ones = part(1);
	int stride[1] = {PATCH * 16}, count[2] = {PATCH * 8, PATCH};
	void *src = base[peer] + 5, *dst = part(3);
	armci_giov_t v = {.src_ptr_array = &src,
		.dst_ptr_array = &dst,
		.bytes = SMALL,
		.ptr_array_len = 1};
	for (int i = 0; i < LONGS; i++) ones[i] = 1;
	memset(part(0), 0, LARGE);
	CHECK_OK(ARMCI_Put(part(0), to, LARGE, peer));
	memset(&h, 0xa5, sizeof h);
	CHECK_OK(ARMCI_NbGetS(base[peer], stride, part(0), stride, count, 1, peer, &h));
	CHECK_OK(ARMCI_NbAcc(ARMCI_ACC_LNG, &scale, ones, to, SMALL, peer, &h));
	CHECK_OK(ARMCI_NbPut(ones, to + LONGS / 2, LARGE / 2, peer, &h));
	CHECK_OK(ARMCI_NbGet(base[peer], part(2), LARGE, peer, &h));
	CHECK_OK(ARMCI_NbGetV(&v, 1, peer, &h));
	CHECK_OK(ARMCI_Wait(&h));
	for (int i = 0; i < PATCH; i++)
		for (int k = 0; k < PATCH * 2; k++)
			CHECK_INT(part(0)[i * PATCH * 2 + k],
				k < PATCH ? expected(peer, i * PATCH * 2 + k) : 0);
	check_part(2, peer, LONGS);
	for (int i = 0; i < SMALL / 8; i++)
		CHECK_INT(part(3)[i], expected(peer, i + 5));
	ARMCI_Fence(peer);
	CHECK_OK(ARMCI_Get(to, part(0), LARGE, peer));
	for (int i = 0; i < LONGS; i++)
		CHECK_INT(part(0)[i], i < SMALL / 8 ? 3 : i < LONGS / 2 ? 0 : 1);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	base = (int64_t **)check_malloc(LARGE * (armci_size_t)(1 + np));
	buffer = ARMCI_Malloc_local(LARGE * (armci_size_t)(4 + np));
	CHECK(buffer);
	for (int i = 0; i < LONGS; i++) base[me][i] = expected(me, i);
	ARMCI_Barrier();
	for (int round = 0; round < 3; round++) {
		for (int way = 0; way < 4; way++) gets(way & 1, way & 2);
		puts_and_values();
		kinds((me + round) % np);
		ARMCI_Barrier();
	}
	CHECK_OK(ARMCI_Free_local(buffer));
	check_free((void **)base);
	return check_end("shared_handle");
}
