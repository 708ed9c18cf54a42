// SPDX-License-Identifier: BSD-3-Clause
// memory.c - asking for more memory than there is: a nonzero return on every rank, one line, never
// a signal, and the job goes on and gets what fits. Needs ARMCI_ERRORS=return.
//
//   memory BYTES     what there is, for all ranks together; the program asks for more
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, np;
static void **base;

static void must(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "rank %d: %s\n", me, what);
		ARMCI_Error(what, 1);
	}
}

// Small memory must work, and hold what is written to it.
static void small(void)
{
	int to = (me + 1) % np, value = me;
	must(ARMCI_Malloc(base, 1 << 20) == 0, "a small ARMCI_Malloc failed");
	memset(base[me], 0, 1 << 20);
	ARMCI_Barrier();
	must(ARMCI_Put(&value, (char *)base[to] + 4096, sizeof value, to) == 0, "ARMCI_Put failed");
	ARMCI_Barrier();
	must(((int *)base[me])[1024] == (me + np - 1) % np, "wrong data");
	ARMCI_Barrier();
	must(ARMCI_Free(base[me]) == 0, "ARMCI_Free failed");
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	must(ARMCI_Init() == 0, "ARMCI_Init failed");
	me = armci_msg_me();
	np = armci_msg_nproc();
	base = malloc((size_t)np * sizeof *base);
	must(argc == 2 && base, "usage: memory BYTES");
	long all = atol(argv[1]);
	long one_rank[] = {1L << 45, all + (1L << 30)};
	small();
	must(ARMCI_Malloc(base, 1L << 45) != 0, "32 TiB on every rank succeeded");
	small();
	for (int i = 0; i < 2; i++) {
		must(ARMCI_Malloc(base, me == np - 1 ? one_rank[i] : 64) != 0,
			"more than there is on one rank succeeded");
		small();
	}
	// Each share would fit, the sum does not.
	must(ARMCI_Malloc(base, all / np + (256L << 20)) != 0,
		"more than there is in all succeeded");
	small();
	if (np > 1) { // a group of one rank
		ARMCI_Group g;
		int last = np - 1;
		ARMCI_Group_create(1, &last, &g);
		if (me == last) {
			must(ARMCI_Malloc_group(base, all + (1L << 30), &g) != 0,
				"more than there is in a group succeeded");
			ARMCI_Group_free(&g);
		}
	}
	small();
	if (me == 0)
		printf("ok memory (%d ranks)\n", np);
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
