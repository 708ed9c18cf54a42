// SPDX-License-Identifier: BSD-3-Clause
// read_write_strided.c - local packing (armci_write_strided) and unpacking (armci_read_strided) of
// strided memory against a plain model. Purely local: no transfer.
#include "check.h"
#include "shape.h"

enum { REGION = 1 << 20 };

static unsigned char *memory, *packed, *want;

static void one(uint64_t *rng, int levels)
{
	struct shape s = shape_random(rng, levels, 1);
	int idx[SHAPE_LEVELS + 1] = {0};
	long at = 0;
	if (s.src_extent > REGION)
		return;
	check_fill(memory, (size_t)s.src_extent, check_random(rng));
	memset(packed, 0xcc, (size_t)s.volume + 16);
	do {
		memcpy(want + at, memory + shape_offset(&s, idx, s.src), (size_t)s.count[0]);
		at += s.count[0];
	} while (shape_next(&s, idx));
	CHECK_INT(at, s.volume);
	memset(want + at, 0xcc, 16);
	armci_write_strided(memory, levels, s.src, s.count, (char *)packed);
	CHECK_MEM(packed, want, (size_t)s.volume + 16);
	unsigned char *spread = want;
	memset(memory, 0x33, (size_t)s.src_extent);
	memset(spread, 0x33, (size_t)s.src_extent);
	at = 0;
	memset(idx, 0, sizeof idx);
	do {
		memcpy(spread + shape_offset(&s, idx, s.src), packed + at, (size_t)s.count[0]);
		at += s.count[0];
	} while (shape_next(&s, idx));
	armci_read_strided(memory, levels, s.src, s.count, (char *)packed);
	CHECK_MEM(memory, spread, (size_t)s.src_extent);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	uint64_t rng = 11 + (uint64_t)me;
	memory = check_alloc(REGION);
	packed = check_alloc(REGION + 16);
	want = check_alloc(REGION + 16);
	for (int round = 0; round < 50; round++)
		for (int levels = 0; levels <= SHAPE_LEVELS; levels++)
			one(&rng, levels);
	return check_end("read_write_strided");
}
