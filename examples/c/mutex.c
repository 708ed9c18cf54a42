// SPDX-License-Identifier: BSD-3-Clause
// mutex.c - a lock around a get, a change and a put, when the change is more than an addition. For
// newcomers; for plain sums use ARMCI_Acc or ARMCI_Rmw, which need no lock.
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 100 };

struct account {
	long balance, entries;
};

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), nproc = armci_msg_nproc(), wrong = 0;

	void **memory = malloc((size_t)nproc * sizeof *memory);
	ARMCI_Malloc(memory, sizeof(struct account));
	*(struct account *)memory[me] = (struct account){0, 0};

	// Collective: every rank says how many mutexes it hosts. Here rank 0 hosts one.
	ARMCI_Create_mutexes(me == 0 ? 1 : 0);
	ARMCI_Barrier();

	for (int i = 0; i < ROUNDS; i++) {
		struct account a;
		ARMCI_Lock(0, 0); // mutex 0 of rank 0
		ARMCI_Get(memory[0], &a, sizeof a, 0);
		a.balance += me + 1;
		a.entries++;
		ARMCI_Put(&a, memory[0], sizeof a, 0);
		ARMCI_Unlock(0, 0); // the next holder sees the put
	}
	ARMCI_Barrier();

	if (me == 0) {
		struct account *a = memory[0];
		long expected = (long)ROUNDS * nproc * (nproc + 1) / 2;
		wrong = a->balance != expected || a->entries != (long)ROUNDS * nproc;
		printf("balance %ld after %ld entries: %s\n", a->balance, a->entries,
			wrong ? "WRONG" : "ok");
	}

	ARMCI_Barrier();
	ARMCI_Destroy_mutexes();
	ARMCI_Free(memory[me]);
	free(memory);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
