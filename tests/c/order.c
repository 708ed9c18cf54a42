// SPDX-License-Identifier: BSD-3-Clause
// order.c - one origin's blocking operations on one target take effect in the order of the calls,
// without fences: random mixes of puts, gets and accumulates of all shapes, and of
// read-modify-writes, on a small, hot range against a plain model.
#include "check.h"
#include <stdbool.h>
#include "shape.h"

enum { ELEMENTS = 4096, BYTES = ELEMENTS * (int)sizeof(int), STEPS = 4000, SEGMENTS = 16 };

static int image[ELEMENTS], local[ELEMENTS], want[ELEMENTS];

struct step {
	int op, scale;     // op 0 put, 1 get, 2 accumulate
	char *remote;      // my slab at the target
	int peer;
};

// What a row of n elements does to the model.
static void row(const struct step *s, int *far, int *near, int *near_want, int n)
{
	for (int i = 0; i < n; i++)
		if (s->op == 0)
			far[i] = near[i];
		else if (s->op == 1)
			near_want[i] = far[i];
		else
			far[i] = (int)((unsigned)far[i] + (unsigned)s->scale * (unsigned)near[i]);
}

static void contiguous(const struct step *s, uint64_t *rng)
{
	int n = check_between(rng, 1, 500), far = check_between(rng, 0, ELEMENTS - n);
	char *remote = s->remote + far * 4;
	row(s, image + far, local, want, n);
	if (s->op == 0)
		CHECK_OK(ARMCI_Put(local, remote, n * 4, s->peer));
	else if (s->op == 1)
		CHECK_OK(ARMCI_Get(remote, local, n * 4, s->peer));
	else
		CHECK_OK(
			ARMCI_Acc(ARMCI_ACC_INT, (void *)&s->scale, local, remote, n * 4, s->peer));
}

// Read-modify-writes: each finds what the operations before it have left.
static void change(const struct step *s, uint64_t *rng)
{
	for (int i = check_between(rng, 1, 5); i > 0; i--) {
		int f = check_between(rng, 0, ELEMENTS - 1);
		int operand = check_between(rng, -100, 100);
		int old = operand, op = check_between(rng, 0, 1) ? ARMCI_SWAP : ARMCI_FETCH_AND_ADD;
		CHECK_OK(ARMCI_Rmw(op, &old, s->remote + f * 4, operand, s->peer));
		CHECK_INT(old, image[f]);
		if (op == ARMCI_SWAP)
			image[f] = operand;
		else
			image[f] = (int)((unsigned)image[f] + (unsigned)operand);
	}
}

static void strided(const struct step *s, uint64_t *rng)
{
	struct shape h = shape_random(rng, check_between(rng, 0, 3), 4);
	int near[SHAPE_LEVELS], far[SHAPE_LEVELS], idx[SHAPE_LEVELS + 1] = {0};
	if (h.src_extent > BYTES || h.dst_extent > BYTES)
		return;
	int at = check_between(rng, 0, (int)(BYTES - h.dst_extent)) & ~3;
	memcpy(near, h.src, sizeof near);
	memcpy(far, h.dst, sizeof far);
	do {
		long n = shape_offset(&h, idx, near) / 4, f = (at + shape_offset(&h, idx, far)) / 4;
		row(s, image + f, local + n, want + n, h.count[0] / 4);
	} while (shape_next(&h, idx));
	if (s->op == 0)
		CHECK_OK(ARMCI_PutS(local, near, s->remote + at, far, h.count, h.levels, s->peer));
	else if (s->op == 1)
		CHECK_OK(ARMCI_GetS(s->remote + at, far, local, near, h.count, h.levels, s->peer));
	else
		CHECK_OK(ARMCI_AccS(ARMCI_ACC_INT, (void *)&s->scale, local, near, s->remote + at,
			far, h.count, h.levels, s->peer));
}

static void vector(const struct step *s, uint64_t *rng)
{
	void *near[SEGMENTS], *far[SEGMENTS];
	int cell = ELEMENTS / SEGMENTS, n = check_between(rng, 1, cell),
	    k = check_between(rng, 1, SEGMENTS);
	for (int i = 0; i < k; i++) {
		int f = i * cell + check_between(rng, 0, cell - n), l = (k - 1 - i) * cell;
		near[i] = local + l;
		far[i] = s->remote + f * 4;
		row(s, image + f, local + l, want + l, n);
	}
	armci_giov_t d = {.src_ptr_array = near,
		.dst_ptr_array = far,
		.bytes = n * 4,
		.ptr_array_len = k};
	if (s->op == 1)
		d = (armci_giov_t){.src_ptr_array = far,
			.dst_ptr_array = near,
			.bytes = n * 4,
			.ptr_array_len = k};
	if (s->op == 0)
		CHECK_OK(ARMCI_PutV(&d, 1, s->peer));
	else if (s->op == 1)
		CHECK_OK(ARMCI_GetV(&d, 1, s->peer));
	else
		CHECK_OK(ARMCI_AccV(ARMCI_ACC_INT, (void *)&s->scale, &d, 1, s->peer));
}

static void mix(void **base, int peer)
{
	static void (*const shapes[])(const struct step *, uint64_t *) = {contiguous, strided,
		vector, change};
	struct step s = {.remote = (char *)base[peer] + (size_t)me * BYTES, .peer = peer};
	uint64_t rng = 99 + (uint64_t)(me * 7 + peer);
	memset(image, 0, sizeof image);
	CHECK_OK(ARMCI_Put(image, s.remote, BYTES, peer));
	for (int i = 0; i < STEPS; i++) {
		s.op = check_between(&rng, 0, 2);
		s.scale = check_between(&rng, -3, 3);
		check_fill(local, sizeof local / 4, check_random(&rng));
		memcpy(want, local, sizeof want);
		shapes[check_between(&rng, 0, 3)](&s, &rng);
		// a get has arrived; nothing else writes its source
		CHECK_MEM(local, want, sizeof want);
	}
	CHECK_OK(ARMCI_Get(s.remote, local, BYTES, peer));
	CHECK_MEM(local, image, BYTES);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc((armci_size_t)BYTES * np);
	for (int r = 0; r < np; r++)
		mix(base, (me + r) % np);
	check_free(base);
	return check_end("order");
}
