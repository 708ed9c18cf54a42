// SPDX-License-Identifier: BSD-3-Clause
// counter.c - a shared counter hands out tasks: a free rank takes the next one. For newcomers;
// this is how quantum chemistry programs balance their load.
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 1000 };

// Some work whose cost depends on the task.
static long work(long task)
{
	long sum = 0;
	for (long i = 0; i <= 100 * task; i++)
		sum += i % 7;
	return sum;
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), nproc = armci_msg_nproc();

	void **counter = malloc((size_t)nproc * sizeof *counter);
	ARMCI_Malloc(counter, me == 0 ? sizeof(long) : 0);
	if (me == 0)
		*(long *)counter[0] = 0;
	ARMCI_Barrier();

	long task, mine = 0, sum = 0, expected = 0;
	for (;;) {
		// Atomic: task = the old value, and the counter grows by 1.
		ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &task, counter[0], 1, 0);
		if (task >= TASKS)
			break;
		sum += work(task);
		mine++;
	}
	printf("rank %d did %ld tasks\n", me, mine);

	// Sum over all ranks; every rank gets the result.
	armci_msg_lgop(&sum, 1, "+");
	for (task = 0; task < TASKS; task++)
		expected += work(task);
	if (me == 0)
		printf("sum %ld: %s\n", sum, sum == expected ? "ok" : "WRONG");

	ARMCI_Barrier();
	ARMCI_Free(counter[me]);
	free(counter);
	ARMCI_Finalize();
	armci_msg_finalize();
	return sum != expected;
}
