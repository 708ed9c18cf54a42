// SPDX-License-Identifier: BSD-3-Clause
// aggregate.c - aggregate handles: many small puts or gets of one kind to one target, complete at
// Wait, the handle used again after that. Other handles are in nonblocking.c.
#include "check.h"

enum { N = 3000 };

static double source[N], target[N];

static void puts_and_gets(double *remote, int peer)
{
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	ARMCI_SET_AGGREGATE_HANDLE(&h);
	for (int i = 0; i < N; i++)
		CHECK_OK(ARMCI_NbPut(&source[i], remote + (i * 7) % N, sizeof(double), peer, &h));
	CHECK_OK(ARMCI_Wait(&h));
	ARMCI_UNSET_AGGREGATE_HANDLE(&h);
	ARMCI_INIT_HANDLE(&h);
	ARMCI_SET_AGGREGATE_HANDLE(&h);
	for (int i = 0; i < N; i++)
		CHECK_OK(ARMCI_NbGet(remote + (i * 7) % N, &target[i], sizeof(double), peer, &h));
	CHECK_OK(ARMCI_Wait(&h));
	CHECK_OK(ARMCI_Wait(&h));
	ARMCI_UNSET_AGGREGATE_HANDLE(&h);
	CHECK_MEM(target, source, sizeof source);
	CHECK_OK(ARMCI_NbPut(source, remote, sizeof(double), peer, &h)); // an ordinary handle again
	CHECK_OK(ARMCI_Wait(&h));
}

static void shapes(double *remote, int peer)
{
	armci_hdl_t h;
	int stride = 10 * sizeof(double), pack = 2 * sizeof(double),
	    count[2] = {2 * sizeof(double), N / 10};
	ARMCI_INIT_HANDLE(&h);
	ARMCI_SET_AGGREGATE_HANDLE(&h);
	for (int c = 0; c < 5; c++) // five pairs of columns; the arrays change between the calls
		CHECK_OK(ARMCI_NbPutS(source + c * (N / 5), &pack, remote + 2 * c, &stride, count,
			1, peer, &h));
	stride = pack = -1;
	CHECK_OK(ARMCI_Wait(&h));
	ARMCI_UNSET_AGGREGATE_HANDLE(&h);
	CHECK_OK(ARMCI_Get(remote, target, sizeof target, peer));
	for (int i = 0; i < N; i++)
		CHECK_DBL(target[i], source[i % 10 / 2 * (N / 5) + i / 10 * 2 + i % 2]);
}

static void vectors(double *remote, int peer)
{
	enum { PART = 100 };
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	ARMCI_SET_AGGREGATE_HANDLE(&h);
	for (int first = 0; first < N; first += PART) {
		void *src[PART], *dst[PART];
		for (int i = 0; i < PART; i++) {
			src[i] = source + first + i;
			dst[i] = remote + N - 1 - first - i;
		}
		armci_giov_t d = {.src_ptr_array = src,
			.dst_ptr_array = dst,
			.bytes = sizeof(double),
			.ptr_array_len = PART};
		CHECK_OK(ARMCI_NbPutV(&d, 1, peer, &h));
	}
	CHECK_OK(ARMCI_Wait(&h));
	ARMCI_UNSET_AGGREGATE_HANDLE(&h);
	CHECK_OK(ARMCI_Get(remote, target, sizeof target, peer));
	for (int i = 0; i < N; i++)
		CHECK_DBL(target[i], source[N - 1 - i]);
}

static void values(double *remote, int peer)
{
	armci_hdl_t h;
	ARMCI_INIT_HANDLE(&h);
	ARMCI_SET_AGGREGATE_HANDLE(&h);
	for (int i = 0; i < N; i++)
		CHECK_OK(ARMCI_NbPutValueDouble(i * 2.5, remote + i, peer, &h));
	CHECK_OK(ARMCI_Wait(&h));
	ARMCI_UNSET_AGGREGATE_HANDLE(&h);
	for (int i = 0; i < N; i += 11)
		CHECK_DBL(ARMCI_GetValueDouble(remote + i, peer), i * 2.5);
}

// Several aggregates at the same time, one per target.
static void per_target(void **base)
{
	armci_hdl_t h[64];
	CHECK(np <= 64);
	for (int r = 0; r < np; r++) {
		ARMCI_INIT_HANDLE(&h[r]);
		ARMCI_SET_AGGREGATE_HANDLE(&h[r]);
	}
	for (int i = 0; i < N; i++)
		for (int r = 0; r < np; r++)
			CHECK_OK(ARMCI_NbPut(&source[i], (double *)base[r] + me * N + i,
				sizeof(double), r, &h[r]));
	for (int r = np - 1; r >= 0; r--) {
		CHECK_OK(ARMCI_Wait(&h[r]));
		ARMCI_UNSET_AGGREGATE_HANDLE(&h[r]);
		CHECK_OK(ARMCI_Get((double *)base[r] + me * N, target, sizeof target, r));
		CHECK_MEM(target, source, sizeof source);
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc((armci_size_t)sizeof source * np);
	for (int i = 0; i < N; i++)
		source[i] = me * 1e5 + i;
	for (int step = 0; step < 2; step++) {
		int peer = (me + step) % np;
		double *remote = (double *)base[peer] + me * N;
		puts_and_gets(remote, peer);
		shapes(remote, peer);
		vectors(remote, peer);
		values(remote, peer);
	}
	per_target(base);
	ARMCI_Barrier();
	check_free(base);
	return check_end("aggregate");
}
