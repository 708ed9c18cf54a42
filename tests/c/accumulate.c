// SPDX-License-Identifier: BSD-3-Clause
// accumulate.c - dst += scale * src in all six types and all three shapes against a plain model, by
// one origin. Many origins at once are in accumulate_contention.c.
#include "check.h"
#include "shape.h"
#include <complex.h>

enum { REGION = 1 << 17 };

// The six types, in both numberings of the constants.
static const struct kind {
	const char *name;
	int classic, mpi, size;
} kinds[] = {
	{"int", 37, 0, sizeof(int)},
	{"double", 38, 3, sizeof(double)},
	{"float", 39, 2, sizeof(float)},
	{"complex", 40, 4, 2 * sizeof(float)},
	{"double complex", 41, 5, 2 * sizeof(double)},
	{"long", 42, 1, sizeof(long)},
};

union scalar {
	int i;
	long l;
	float f;
	double d;
	float complex c;
	double complex z;
};

static unsigned char *local, *image, *back;

// Writes n elements of small whole numbers, so that sums and products are exact in every type.
static void numbers(int k, void *p, size_t n, uint64_t *rng)
{
	for (size_t i = 0; i < n; i++) {
		int a = check_between(rng, -9, 9), b = check_between(rng, -9, 9);
		switch (k) {
		case 0: ((int *)p)[i] = a; break;
		case 1: ((double *)p)[i] = a; break;
		case 2: ((float *)p)[i] = (float)a; break;
		case 3: ((float complex *)p)[i] = (float)a + (float)b * I; break;
		case 4: ((double complex *)p)[i] = a + b * I; break;
		default: ((long *)p)[i] = a; break;
		}
	}
}

static void model(int k, const union scalar *s, void *dst, const void *src, size_t n)
{
	for (size_t i = 0; i < n; i++)
		switch (k) {
		case 0: ((int *)dst)[i] += s->i * ((const int *)src)[i]; break;
		case 1: ((double *)dst)[i] += s->d * ((const double *)src)[i]; break;
		case 2: ((float *)dst)[i] += s->f * ((const float *)src)[i]; break;
		case 3: ((float complex *)dst)[i] += s->c * ((const float complex *)src)[i]; break;
		case 4:
			((double complex *)dst)[i] += s->z * ((const double complex *)src)[i];
			break;
		default: ((long *)dst)[i] += s->l * ((const long *)src)[i]; break;
		}
}

struct rows {
	int kind;
	union scalar scale;
};

static void model_row(void *arg, long src, long dst, int bytes)
{
	struct rows *r = arg;
	model(r->kind, &r->scale, image + dst, local + src, (size_t)(bytes / kinds[r->kind].size));
}

// The whole region of the peer must be what the model says.
static void compare(void **base, int peer, const char *shape, int k)
{
	CHECK_OK(ARMCI_Get(base[peer], back, REGION, peer));
	if (memcmp(back, image, REGION) != 0)
		fprintf(stderr, "rank %d: %s accumulate of %s:\n", me, shape, kinds[k].name);
	CHECK_MEM(back, image, REGION);
}

static void contiguous(void **base, int peer, int k, int op, union scalar *scale, uint64_t *rng)
{
	int size = kinds[k].size;
	for (int n = 0; n * size <= REGION; n = n < 20 ? n + 1 : n * 3) {
		int at = check_between(rng, 0, REGION / size - n);
		CHECK_OK(ARMCI_Acc(op, scale, local, (char *)base[peer] + at * size, n * size,
			peer));
		model(k, scale, image + at * size, local, (size_t)n);
	}
	compare(base, peer, "contiguous", k);
}

static void strided(void **base, int peer, int k, int op, union scalar *scale, uint64_t *rng)
{
	struct rows rows = {.kind = k, .scale = *scale};
	for (int levels = 0; levels <= SHAPE_LEVELS; levels++) {
		struct shape s = shape_random(rng, levels, kinds[k].size);
		if (s.src_extent > REGION || s.dst_extent > REGION)
			continue;
		CHECK_OK(ARMCI_AccS(op, scale, local, s.src, base[peer], s.dst, s.count, levels,
			peer));
		shape_walk(&s, model_row, &rows);
	}
	compare(base, peer, "strided", k);
}

// Segments that overlap and repeat within one call must all be added.
static void vector(void **base, int peer, int k, int op, union scalar *scale, uint64_t *rng)
{
	enum { SEGMENTS = 200, LEN = 5 };
	void *src[SEGMENTS], *dst[SEGMENTS];
	int size = kinds[k].size;
	for (int i = 0; i < SEGMENTS; i++) {
		long from = (long)check_between(rng, 0, 300) * size,
		     to = (long)check_between(rng, 0, 20) * size;
		src[i] = local + from;
		dst[i] = (char *)base[peer] + to;
		model(k, scale, image + to, local + from, LEN);
	}
	armci_giov_t d = {.src_ptr_array = src,
		.dst_ptr_array = dst,
		.bytes = LEN * size,
		.ptr_array_len = SEGMENTS};
	CHECK_OK(ARMCI_AccV(op, scale, &d, 1, peer));
	compare(base, peer, "vector", k);
}

static void one_type(void **base, int peer, int k, int op)
{
	uint64_t rng = (uint64_t)(100 * k + op + me);
	union scalar scale;
	for (int round = 0; round < 3; round++) {
		memset(&scale, 0, sizeof scale);
		numbers(k, &scale, 1, &rng);
		if (round == 0) // scale 1 has its own loop
			switch (k) {
			case 0: scale.i = 1; break;
			case 1: scale.d = 1; break;
			case 2: scale.f = 1; break;
			case 3: scale.c = 1; break;
			case 4: scale.z = 1; break;
			default: scale.l = 1; break;
			}
		numbers(k, local, (size_t)(REGION / kinds[k].size), &rng);
		numbers(k, image, (size_t)(REGION / kinds[k].size), &rng);
		CHECK_OK(ARMCI_Put(image, base[peer], REGION, peer));
		contiguous(base, peer, k, op, &scale, &rng);
		strided(base, peer, k, op, &scale, &rng);
		vector(base, peer, k, op, &scale, &rng);
	}
}

// Integer sums wrap around.
static void wrap(void **base, int peer)
{
	int top = 2147483647, one = 1, scale = 1, got;
	CHECK_OK(ARMCI_Put(&top, base[peer], sizeof top, peer));
	CHECK_OK(ARMCI_Acc(ARMCI_ACC_INT, &scale, &one, base[peer], sizeof one, peer));
	CHECK_OK(ARMCI_Get(base[peer], &got, sizeof got, peer));
	CHECK_INT(got, -2147483647 - 1);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	local = check_alloc(REGION);
	image = check_alloc(REGION);
	back = check_alloc(REGION);
	void **base = check_malloc(REGION);
	int peer = (me + 1) % np;
	for (int k = 0; k < 6; k++) {
		one_type(base, peer, k, kinds[k].classic);
		one_type(base, peer, k, kinds[k].mpi);
	}
	wrap(base, peer);
	check_free(base);
	return check_end("accumulate");
}
