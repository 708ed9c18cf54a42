// SPDX-License-Identifier: BSD-3-Clause
// steps.c - allocates and touches memory in small steps until it is refused: the same step must be
// refused on every rank, everything before it stays usable, and what was freed can be had again.
// Needs ARMCI_ERRORS=return.
//
//   steps MEBIBYTES MOST     per rank and step; MOST steps without a refusal are an error
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, np;

static void must(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "steps: rank %d: %s\n", me, what);
		ARMCI_Error(what, 1);
	}
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	must(ARMCI_Init() == 0 && argc == 3, "starting");
	me = armci_msg_me();
	np = armci_msg_nproc();
	long bytes = atol(argv[1]) << 20;
	int most = atoi(argv[2]), steps = 0;
	void **base = malloc((size_t)np * sizeof *base),
	     **mine = malloc((size_t)most * sizeof *mine);
	must(base && mine, "malloc");
	while (steps < most && ARMCI_Malloc(base, bytes) == 0) {
		memset(mine[steps] = base[me], steps, (size_t)bytes);
		steps++;
	}
	must(steps > 0 && steps < most, "no step, or every step, was granted");
	int least = steps;
	armci_msg_igop(&least, 1, (char *)"min");
	must(least == steps, "the ranks were not refused together");
	for (int i = 0; i < steps; i++)
		must(((char *)mine[i])[bytes - 1] == (char)i, "memory has changed");
	for (int i = 0; i < steps; i++)
		must(ARMCI_Free(mine[i]) == 0, "ARMCI_Free");
	must(ARMCI_Malloc(base, bytes) == 0, "ARMCI_Malloc after ARMCI_Free");
	memset(base[me], 1, (size_t)bytes);
	ARMCI_Barrier();
	if (me == 0)
		printf("refused at step %d\n", steps);
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
