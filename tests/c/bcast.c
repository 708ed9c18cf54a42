// SPDX-License-Identifier: BSD-3-Clause
// bcast.c - broadcasts of 0 bytes to 4 MiB from every root in every scope, also in quick
// succession, and the barrier between them. Broadcasts within groups are in group_use.c.
#include "check.h"

enum { MOST = 4 << 20, MANY = 16 };

static unsigned char *buffer, *want;

static void fill(int root_here, size_t n, int salt)
{
	check_fill(want, n, (uint64_t)salt);
	if (root_here)
		memcpy(buffer, want, n);
	else
		memset(buffer, 0, n);
	buffer[n] = 0x55;
}

// Of many ranks not every one is the root of long messages: all of them compare all of it each
// time.
static void sizes(void)
{
	int step = np <= 4 ? 1 : 5; // odd, so that both calls are made
	for (int n = 0; n <= MOST; n = n < 130        ? n + step :
			n * 3 / 2 < MOST || n == MOST ? n * 3 / 2 :
							MOST)
		for (int root = 0; root < np; root += n < 130 || np <= MANY ? 1 : np / 7) {
			fill(me == root, (size_t)n, n + root);
			if (n % 2)
				armci_msg_bcast(buffer, n, root);
			else
				armci_msg_brdcst(buffer, n, root);
			CHECK_MEM(buffer, want, (size_t)n);
			CHECK_INT(buffer[n], 0x55);
		}
}

// Nothing separates them: a fast root must not overtake a slow reader.
static void rapid(void)
{
	for (int i = 0; i < check_rounds(3000); i++) {
		int root = i / 50 % np, v[5] = {0};
		if (me == root)
			for (int k = 0; k < 5; k++)
				v[k] = i * 10 + k;
		armci_msg_bcast(v, (int)sizeof v, root);
		for (int k = 0; k < 5; k++)
			CHECK_INT(v[k], i * 10 + k);
	}
}

static void scopes(void)
{
	int values[] = {SCOPE_ALL, 333, 0};
	for (int s = 0; s < 3; s++) {
		fill(me == np - 1, 5000, s);
		armci_msg_bcast_scope(values[s], buffer, 5000, np - 1);
		CHECK_MEM(buffer, want, 5000);
	}
	int *masters = check_masters(), master = masters[me];
	free(masters);
	fill(me == master, 70000, 31 + master);
	armci_msg_clus_brdcst(buffer, 70000);
	CHECK_MEM(buffer, want, 70000);
	if (armci_domain_count(ARMCI_DOMAIN_SMP) > 1) {
		check_skip("the root of a node broadcast has one reading only on one node");
		return;
	}
	fill(me == 0, 900, 17);
	armci_msg_bcast_scope(SCOPE_NODE, buffer, 900, 0);
	CHECK_MEM(buffer, want, 900);
	if (me == 0) {
		fill(1, 900, 18);
		armci_msg_bcast_scope(SCOPE_MASTERS, buffer, 900, 0);
		CHECK_MEM(buffer, want, 900);
	}
}

// No rank leaves a barrier before the last one has come.
static void barrier(void **base)
{
	for (int i = 1; i <= check_rounds(2000); i++) {
		*(volatile int *)base[me] = i;
		if (i % 2)
			armci_msg_barrier();
		else
			ARMCI_Barrier();
		for (int r = 0; r < np; r++) {
			int seen = ARMCI_GetValueInt(base[r], r);
			CHECK(seen == i || seen == i + 1);
		}
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	buffer = check_alloc(MOST + 1);
	want = check_alloc(MOST + 1);
	void **base = check_malloc(64);
	sizes();
	rapid();
	scopes();
	*(int *)base[me] = 0;
	ARMCI_Barrier();
	barrier(base);
	ARMCI_Barrier();
	check_free(base);
	return check_end("bcast");
}
