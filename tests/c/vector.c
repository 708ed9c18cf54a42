// SPDX-License-Identifier: BSD-3-Clause
// vector.c - PutV and GetV: many segments of several lengths in random places, several descriptors
// in one call, against a plain model. Vector accumulates, also overlapping ones, are in
// accumulate.c.
#include "check.h"

enum { REGION = 1 << 18, SEGMENTS = 1000, DESCRIPTORS = 5 };

struct list {
	void *src[SEGMENTS], *dst[SEGMENTS];
};

static struct list lists[DESCRIPTORS];
static armci_giov_t giov[DESCRIPTORS];
static unsigned char *local, *image;

// Random descriptors: segment k of descriptor d lies in its own cell of both sides, at a random
// place in it. from_remote tells which side is the source. The model copies at the same time.
static void make(uint64_t *rng, char *remote, int from_remote, unsigned char *model)
{
	int cell = REGION / (DESCRIPTORS * SEGMENTS);
	for (int d = 0; d < DESCRIPTORS; d++) {
		int n = check_between(rng, 1, SEGMENTS), bytes = check_between(rng, 1, cell);
		for (int k = 0; k < n; k++) {
			long far = (long)(d * SEGMENTS + k) * cell +
				check_between(rng, 0, cell - bytes);
			long near = (long)(d * SEGMENTS + (k * 7 + 3) % SEGMENTS) * cell;
			lists[d].src[k] = from_remote ? (void *)(remote + far) :
							(void *)(local + near);
			lists[d].dst[k] = from_remote ? (void *)(local + near) :
							(void *)(remote + far);
			if (from_remote)
				memcpy(model + near, image + far, (size_t)bytes);
			else
				memcpy(model + far, local + near, (size_t)bytes);
		}
		giov[d] = (armci_giov_t){.src_ptr_array = lists[d].src,
			.dst_ptr_array = lists[d].dst,
			.bytes = bytes,
			.ptr_array_len = n};
	}
}

static void random_lists(void **base, int peer)
{
	uint64_t rng = 7 + (uint64_t)me;
	unsigned char *model = check_alloc(REGION);
	check_fill(image, REGION, 1);
	CHECK_OK(ARMCI_Put(image, base[peer], REGION, peer));
	for (int round = 0; round < 20; round++) {
		check_fill(local, REGION, check_random(&rng));
		make(&rng, base[peer], 0, image);
		CHECK_OK(ARMCI_PutV(giov, DESCRIPTORS, peer));
		ARMCI_Fence(peer);
		CHECK_OK(ARMCI_Get(base[peer], local, REGION, peer));
		CHECK_MEM(local, image, REGION);
		memcpy(model, local, REGION);
		make(&rng, base[peer], 1, model);
		CHECK_OK(ARMCI_GetV(giov, DESCRIPTORS, peer));
		CHECK_MEM(local, model, REGION);
	}
	free(model);
}

// One large segment, and many of one byte.
static void extremes(void **base, int peer)
{
	check_fill(local, REGION, 77);
	void *src = local, *dst = base[peer];
	armci_giov_t one = {.src_ptr_array = &src,
		.dst_ptr_array = &dst,
		.bytes = REGION,
		.ptr_array_len = 1};
	CHECK_OK(ARMCI_PutV(&one, 1, peer));
	for (int k = 0; k < SEGMENTS; k++) {
		lists[0].src[k] = (char *)base[peer] + k * 13;
		lists[0].dst[k] = image + k;
	}
	armci_giov_t bytes = {.src_ptr_array = lists[0].src, .dst_ptr_array = lists[0].dst,
		.bytes = 1, .ptr_array_len = SEGMENTS};
	CHECK_OK(ARMCI_GetV(&bytes, 1, peer));
	for (int k = 0; k < SEGMENTS; k++)
		CHECK_INT(image[k], local[k * 13]);
}

// The same source segment may be put to many places.
static void scatter(void **base, int peer)
{
	double value = 3.25 + me, got;
	for (int k = 0; k < SEGMENTS; k++) {
		lists[0].src[k] = &value;
		lists[0].dst[k] = (double *)base[peer] + 2 * k;
	}
	armci_giov_t d = {.src_ptr_array = lists[0].src, .dst_ptr_array = lists[0].dst,
		.bytes = sizeof(double), .ptr_array_len = SEGMENTS};
	CHECK_OK(ARMCI_PutV(&d, 1, peer));
	for (int k = 0; k < SEGMENTS; k += 37) {
		CHECK_OK(ARMCI_Get((double *)base[peer] + 2 * k, &got, sizeof got, peer));
		CHECK_DBL(got, value);
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	local = check_alloc(REGION);
	image = check_alloc(REGION);
	void **base = check_malloc(REGION);
	for (int step = 0; step < 2; step++) {
		int peer = step ? me : (me + 1) % np;
		random_lists(base, peer);
		extremes(base, peer);
		scatter(base, peer);
		ARMCI_Barrier();
	}
	check_free(base);
	return check_end("vector");
}
