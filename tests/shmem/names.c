/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with an ARMCI of its own, as Global Arrays over OpenSHMEM has: the library does not
 * call its functions. Those that have the same names are seen by the dynamic linker first. */
#include "check.h"

#define OWN(NAME) \
	int NAME(void); \
	__attribute__((visibility("default"))) int NAME(void) \
	{ \
		fprintf(stderr, "FAIL: %s of the program was called\n", #NAME); \
		abort(); \
	}
OWN(ARMCI_Init)
OWN(ARMCI_Malloc)
OWN(ARMCI_Put)
OWN(ARMCI_Get)
OWN(ARMCI_PutS)
OWN(ARMCI_NbPut)
OWN(ARMCI_Wait)
OWN(ARMCI_WaitAll)
OWN(ARMCI_AllFence)
OWN(ARMCI_Free)
OWN(ARMCI_Finalize)
OWN(PARMCI_Put)
OWN(PARMCI_Get)
OWN(armci_msg_me)
OWN(armci_msg_nproc)
OWN(armci_msg_barrier)
OWN(armci_msg_group_barrier)
OWN(armci_msg_lgop)
OWN(armci_msg_finalize)

int main(void)
{
	static long variable;
	begin();
	long *word = shmem_calloc(8, sizeof *word), value = me + 1, sum, from[4] = {me, me, me, me};
	CHECK(word != NULL);
	shmem_long_p(word, value, right);
	shmem_long_put_nbi(word + 1, &value, 1, right);
	shmem_long_iput(word + 2, from, 2, 1, 3, right);
	shmem_long_atomic_add(&variable, value, right);
	shmem_barrier_all();
	CHECK(word[0] == left + 1 && word[1] == left + 1 && variable == left + 1);
	CHECK(word[2] == left && word[4] == left && word[6] == left);
	CHECK(shmem_long_g(word, right) == value);
	CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word + 7, word, 1) == 0);
	sum = word[7];
	CHECK(sum == (long)n * (n + 1) / 2);
	shmem_free(word);
	return end("names");
}
