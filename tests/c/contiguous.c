// SPDX-License-Identifier: BSD-3-Clause
// contiguous.c - put and get of plain byte ranges: every size class from 0 to 1 MiB, every
// alignment, every target including oneself, nothing written beside the range. Only blocking calls.
#include "check.h"

enum { REGION = (1 << 20) + 4096, GUARD = 64 };

static unsigned char *source, *back;

// Puts n bytes at offset to of peer's region and looks at the neighbours too.
static void once(void **base, int peer, int n, int from, int to)
{
	unsigned char *remote = (unsigned char *)base[peer] + to;
	unsigned char around[2 * GUARD];
	memset(around, 0xa5, sizeof around);
	CHECK_OK(ARMCI_Put(around, remote - GUARD, GUARD, peer));
	CHECK_OK(ARMCI_Put(around, remote + n, GUARD, peer));
	CHECK_OK(ARMCI_Put(source + from, remote, n, peer));
	memset(back, 0x5a, (size_t)n + 2 * GUARD);
	CHECK_OK(ARMCI_Get(remote, back + GUARD, n, peer));
	CHECK_MEM(back + GUARD, source + from, (size_t)n);
	for (int i = 0; i < GUARD; i++) {
		CHECK_INT(back[i], 0x5a);
		CHECK_INT(back[GUARD + n + i], 0x5a);
	}
	CHECK_OK(ARMCI_Get(remote - GUARD, back, GUARD, peer));
	CHECK_OK(ARMCI_Get(remote + n, back + GUARD, GUARD, peer));
	CHECK_MEM(back, around, sizeof around);
}

static void sizes(void **base, int peer)
{
	for (int n = 0; n <= 300; n++)
		once(base, peer, n, n % 16, GUARD + n * 7 % 32);
	for (int n = 512; n <= 1 << 20; n *= 2)
		for (int d = -1; d <= 1; d++)
			if (n + d <= 1 << 20)
				once(base, peer, n + d, 8 + d, GUARD + 3 * (d + 1));
}

static void alignments(void **base, int peer)
{
	for (int from = 0; from < 16; from++)
		for (int to = 0; to < 16; to++)
			once(base, peer, 1 + from * 5 + to * 3, from, GUARD + to);
}

// Every rank writes its slot in every region; after the barrier the owner reads by plain loads.
static void visible(void **base)
{
	int slot = 1000;
	ARMCI_Barrier();
	for (int r = 0; r < np; r++)
		CHECK_OK(ARMCI_Put(source + r, (char *)base[r] + slot * me, slot, r));
	ARMCI_Barrier();
	for (int r = 0; r < np; r++) {
		check_fill(back, (size_t)(slot + np), (uint64_t)r);
		CHECK_MEM((char *)base[me] + slot * r, back + me, (size_t)slot);
	}
	ARMCI_Barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	source = check_alloc(REGION);
	back = check_alloc(REGION + 2 * GUARD);
	check_fill(source, REGION, (uint64_t)me);
	void **base = check_malloc(REGION);
	sizes(base, (me + 1) % np);
	ARMCI_Barrier();
	alignments(base, (me + 1) % np);
	ARMCI_Barrier();
	alignments(base, me);
	visible(base);
	check_free(base);
	return check_end("contiguous");
}
