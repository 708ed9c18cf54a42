// SPDX-License-Identifier: BSD-3-Clause
// nonblocking.c - nonblocking calls of all kinds with explicit, implicit and aggregate handles:
// completion by Wait, Test, WaitProc, WaitAll; handles that hold garbage, are waited for again or
// shared by several calls.
#include "check.h"
#include "shape.h"

enum { N = 512, BYTES = N * (int)sizeof(double), MANY = 64 };

static double source[MANY][N], target[MANY][N];

static void fill(int salt)
{
	for (int k = 0; k < MANY; k++)
		for (int i = 0; i < N; i++) {
			source[k][i] = salt * 1e6 + k * 1e3 + i + me * 0.25;
			target[k][i] = -1;
		}
}

static double *slot(void **base, int r, int k)
{
	return (double *)base[r] + ((size_t)me * MANY + (size_t)k) * N;
}

static void compare(int first, int n)
{
	for (int k = first; k < first + n; k++)
		CHECK_MEM(target[k], source[k], BYTES);
}

// Many handles at once, their content is garbage before; put, wait, get, wait; waited for again.
static void explicit(void **base, int peer)
{
	armci_hdl_t h[MANY];
	fill(1);
	memset(h, 0xa5, sizeof h);
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_NbPut(source[k], slot(base, peer, k), BYTES, peer, &h[k]));
	for (int k = MANY - 1; k >= 0; k--)
		CHECK_OK(ARMCI_Wait(&h[k]));
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_NbGet(slot(base, peer, k), target[k], BYTES, peer, &h[k]));
	for (int k = 0; k < MANY; k++) {
		CHECK_OK(ARMCI_Wait(&h[k]));
		compare(k, 1);
		CHECK_OK(ARMCI_Wait(&h[k]));
		CHECK_INT(ARMCI_Test(&h[k]), 0);
	}
}

static void implicit(void **base)
{
	fill(2);
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_NbPut(source[k], slot(base, k % np, k), BYTES, k % np, NULL));
	for (int r = 0; r < np; r++)
		CHECK_OK(ARMCI_WaitProc(r));
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_NbGet(slot(base, k % np, k), target[k], BYTES, k % np, NULL));
	CHECK_OK(ARMCI_WaitAll());
	compare(0, MANY);
	fill(3); // an AllFence completes implicit puts as well
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_NbPut(source[k], slot(base, k % np, k), BYTES, k % np, NULL));
	ARMCI_AllFence();
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_Get(slot(base, k % np, k), target[k], BYTES, k % np));
	compare(0, MANY);
	CHECK_OK(ARMCI_WaitAll());
}

static void test(void **base, int peer)
{
	armci_hdl_t h;
	fill(4);
	ARMCI_INIT_HANDLE(&h);
	CHECK_INT(ARMCI_Test(&h), 0); // inactive
	CHECK_OK(ARMCI_Wait(&h));
	CHECK_OK(ARMCI_NbPut(source, slot(base, peer, 0), MANY * BYTES, peer, &h));
	while (ARMCI_Test(&h) != 0)
		continue;
	CHECK_OK(ARMCI_NbGet(slot(base, peer, 0), target, MANY * BYTES, peer, &h));
	while (ARMCI_Test(&h) != 0)
		continue;
	compare(0, MANY);
	CHECK_OK(ARMCI_NbPut(source, slot(base, me, 0), 8, me, &h)); // to oneself
	CHECK_INT(ARMCI_Test(&h), 0);
}

// Several calls on one handle that is not an aggregate: Wait completes all of them.
static void shared_handle(void **base, int peer)
{
	armci_hdl_t h;
	fill(5);
	ARMCI_INIT_HANDLE(&h);
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_NbPut(source[k], slot(base, peer, k), BYTES, peer, &h));
	CHECK_OK(ARMCI_Wait(&h));
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_NbGet(slot(base, peer, k), target[k], BYTES, peer, &h));
	CHECK_OK(ARMCI_Wait(&h));
	compare(0, MANY);
}

// Descriptors and strides live on a stack that is overwritten before the wait.
static void descriptors(void **base, int peer, armci_hdl_t *h)
{
	int stride = BYTES, count[2] = {BYTES, MANY / 2};
	void *src[MANY / 2], *dst[MANY / 2];
	CHECK_OK(ARMCI_NbPutS(source[0], &stride, slot(base, peer, 0), &stride, count, 1, peer, h));
	for (int k = 0; k < MANY / 2; k++) {
		src[k] = source[MANY / 2 + k];
		dst[k] = slot(base, peer, MANY / 2 + k);
	}
	armci_giov_t d = {.src_ptr_array = src,
		.dst_ptr_array = dst,
		.bytes = BYTES,
		.ptr_array_len = MANY / 2};
	CHECK_OK(ARMCI_NbPutV(&d, 1, peer, h ? h + 1 : NULL));
	memset(src, 0, sizeof src);
	memset(dst, 0, sizeof dst);
	memset(count, 0xff, sizeof count);
	stride = -1;
	memset(&d, 0xff, sizeof d);
}

static void shapes(void **base, int peer)
{
	armci_hdl_t h[2];
	int stride = BYTES, count[2] = {BYTES, MANY};
	for (int pass = 0; pass < 2; pass++) {
		fill(6 + pass);
		memset(h, 0x77, sizeof h);
		descriptors(base, peer, pass ? NULL : h);
		CHECK_OK(pass ? ARMCI_WaitAll() : ARMCI_Wait(&h[0]));
		CHECK_OK(pass ? ARMCI_WaitAll() : ARMCI_Wait(&h[1]));
		CHECK_OK(ARMCI_NbGetS(slot(base, peer, 0), &stride, target, &stride, count, 1, peer,
			pass ? NULL : h));
		CHECK_OK(pass ? ARMCI_WaitProc(peer) : ARMCI_Wait(h));
		compare(0, MANY);
	}
}

// Vector gets of several descriptors, of which several are outstanding at a time.
static void vectors(void **base, int peer)
{
	enum { GETS = 4, GROUPS = 4, SEGMENTS = MANY / GETS / GROUPS };
	armci_hdl_t h[GETS];
	armci_giov_t d[GROUPS];
	void *src[GROUPS][SEGMENTS], *dst[GROUPS][SEGMENTS];
	fill(8);
	CHECK_OK(ARMCI_Put(source, slot(base, peer, 0), MANY * BYTES, peer));
	memset(h, 0x33, sizeof h);
	for (int i = 0; i < GETS; i++) {
		for (int k = 0; k < GROUPS * SEGMENTS; k++) {
			src[k / SEGMENTS][k % SEGMENTS] = slot(base, peer,
				i * GROUPS * SEGMENTS + k);
			dst[k / SEGMENTS][k % SEGMENTS] = target[i * GROUPS * SEGMENTS + k];
		}
		for (int g = 0; g < GROUPS; g++)
			d[g] = (armci_giov_t){.src_ptr_array = src[g],
				.dst_ptr_array = dst[g],
				.bytes = BYTES,
				.ptr_array_len = SEGMENTS};
		CHECK_OK(ARMCI_NbGetV(d, GROUPS, peer, &h[i]));
	}
	for (int i = 0; i < GETS; i++)
		CHECK_OK(ARMCI_Wait(&h[i]));
	compare(0, MANY);
}

static void accumulate(void **base, int peer)
{
	double scale = 3, one = 1, sum[4] = {0};
	armci_hdl_t h[3];
	int stride = 8, count[2] = {8, 2};
	void *src = &one, *dst = slot(base, peer, 0) + 1;
	armci_giov_t d = {.src_ptr_array = &src,
		.dst_ptr_array = &dst,
		.bytes = 8,
		.ptr_array_len = 1};
	double ones[2] = {1, 1};
	CHECK_OK(ARMCI_Put(sum, slot(base, peer, 0), sizeof sum, peer));
	memset(h, 0x11, sizeof h);
	CHECK_OK(ARMCI_NbAcc(ARMCI_ACC_DBL, &scale, &one, slot(base, peer, 0), 8, peer, &h[0]));
	CHECK_OK(ARMCI_NbAccV(ARMCI_ACC_DBL, &scale, &d, 1, peer, &h[1]));
	CHECK_OK(ARMCI_NbAccS(ARMCI_ACC_DBL, &scale, ones, &stride, slot(base, peer, 0) + 1,
		&stride, count, 1, peer, &h[2]));
	for (int i = 0; i < 3; i++)
		CHECK_OK(ARMCI_Wait(&h[i]));
	ARMCI_Fence(peer);
	CHECK_OK(ARMCI_Get(slot(base, peer, 0), sum, sizeof sum, peer));
	CHECK_DBL(sum[0], 3);
	CHECK_DBL(sum[1], 6);
	CHECK_DBL(sum[2], 3);
	CHECK_DBL(sum[3], 0);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc((armci_size_t)(MANY * BYTES) * np);
	for (int round = 0; round < 3; round++) {
		int peer = (me + round) % np;
		explicit(base, peer);
		implicit(base);
		test(base, peer);
		shared_handle(base, peer);
		shapes(base, peer);
		vectors(base, peer);
		accumulate(base, peer);
		ARMCI_Barrier();
	}
	check_free(base);
	return check_end("nonblocking");
}
