// SPDX-License-Identifier: BSD-3-Clause
// strided.c - PutS and GetS of random shapes with 0 to 8 stride levels against a plain model, with
// independent strides at both sides; the gaps between the rows must stay untouched. Accumulates are
// in accumulate.c.
#include "check.h"
#include "shape.h"

enum { REGION = 1 << 20 };

static unsigned char *local, *image;

// One random put: the peer's region must then equal the model, gaps included.
static void put(uint64_t *rng, void **base, int peer, int levels)
{
	struct shape s = shape_random(rng, levels, 1);
	if (s.src_extent > REGION || s.dst_extent > REGION)
		return;
	int at = check_between(rng, 0, (int)(REGION - s.dst_extent));
	check_fill(local, (size_t)s.src_extent, check_random(rng));
	CHECK_OK(ARMCI_PutS(local, s.src, (char *)base[peer] + at, s.dst, s.count, levels, peer));
	shape_copy(&s, local, image + at);
	ARMCI_Fence(peer);
	int lo = at > 100 ? at - 100 : 0;
	long hi = at + s.dst_extent + 100 < REGION ? at + s.dst_extent + 100 : REGION;
	CHECK_OK(ARMCI_Get((char *)base[peer] + lo, local, (int)(hi - lo), peer));
	CHECK_MEM(local, image + lo, (size_t)(hi - lo));
}

// One random get: the local buffer must equal the model, gaps included.
static void get(uint64_t *rng, void **base, int peer, int levels)
{
	struct shape s = shape_random(rng, levels, 1);
	if (s.src_extent > REGION || s.dst_extent > REGION)
		return;
	int at = check_between(rng, 0, (int)(REGION - s.src_extent));
	unsigned char *want = check_alloc((size_t)s.dst_extent);
	memset(local, 0x3c, (size_t)s.dst_extent);
	memset(want, 0x3c, (size_t)s.dst_extent);
	shape_copy(&s, image + at, want);
	CHECK_OK(ARMCI_GetS((char *)base[peer] + at, s.src, local, s.dst, s.count, levels, peer));
	CHECK_MEM(local, want, (size_t)s.dst_extent);
	free(want);
}

static void random_shapes(void **base, int peer)
{
	uint64_t rng = 42 + (uint64_t)me;
	check_fill(image, REGION, 5);
	CHECK_OK(ARMCI_Put(image, base[peer], REGION, peer));
	for (int round = 0; round < 25; round++)
		for (int levels = 0; levels <= SHAPE_LEVELS; levels++) {
			put(&rng, base, peer, levels);
			get(&rng, base, peer, levels);
		}
	CHECK_OK(ARMCI_Get(base[peer], local, REGION, peer));
	CHECK_MEM(local, image, REGION);
}

// Level 0 needs no stride arrays.
static void null_strides(void **base, int peer)
{
	int count[1] = {100};
	check_fill(local, 100, 9);
	CHECK_OK(ARMCI_PutS(local, NULL, base[peer], NULL, count, 0, peer));
	memset(local + 200, 0, 100);
	CHECK_OK(ARMCI_GetS(base[peer], NULL, local + 200, NULL, count, 0, peer));
	CHECK_MEM(local + 200, local, 100);
}

// A zero count moves nothing.
static void zero_counts(void **base, int peer)
{
	int stride[3] = {64, 640, 6400};
	unsigned char before[4096], after[4096];
	CHECK_OK(ARMCI_Get(base[peer], before, sizeof before, peer));
	for (int z = 0; z <= 3; z++) {
		int count[4] = {16, 2, 2, 2};
		count[z] = 0;
		memset(local, 0xee, 4096);
		CHECK_OK(ARMCI_PutS(local, stride, base[peer], stride, count, 3, peer));
		CHECK_OK(ARMCI_GetS(base[peer], stride, local, stride, count, 3, peer));
		for (int i = 0; i < 4096; i++)
			CHECK_INT(local[i], 0xee);
	}
	ARMCI_Fence(peer);
	CHECK_OK(ARMCI_Get(base[peer], after, sizeof after, peer));
	CHECK_MEM(after, before, sizeof before);
}

// A column of a matrix and strides equal to the rows (one contiguous block in truth).
static void matrix(void **base, int peer)
{
	enum { N = 100 };
	double col[N], got[N];
	int ld = N * (int)sizeof(double), one = sizeof(double), count[2] = {sizeof(double), N};
	for (int i = 0; i < N; i++)
		col[i] = i * 0.5 + me;
	CHECK_OK(ARMCI_PutS(col, &one, (double *)base[peer] + 3, &ld, count, 1, peer));
	CHECK_OK(ARMCI_GetS((double *)base[peer] + 3, &ld, got, &one, count, 1, peer));
	CHECK_MEM(got, col, sizeof col);
	for (int i = 0; i < N; i += 9)
		CHECK_DBL(ARMCI_GetValueDouble((double *)base[peer] + 3 + (size_t)i * N, peer),
			col[i]);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	local = check_alloc(REGION);
	image = check_alloc(REGION);
	void **base = check_malloc(REGION);
	for (int step = 0; step < 2; step++) {
		int peer = step ? me : (me + 1) % np;
		random_shapes(base, peer);
		null_strides(base, peer);
		zero_counts(base, peer);
		matrix(base, peer);
		ARMCI_Barrier();
	}
	check_free(base);
	return check_end("strided");
}
