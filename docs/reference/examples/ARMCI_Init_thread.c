// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of ARMCI_Init_thread.
#include <armci.h>
#include <pthread.h>

static void **base;

static void *work(void *argument) /* any thread may communicate */
{
	long one = 1, scale = 1;
	ARMCI_Acc(ARMCI_ACC_LNG, &scale, &one, base[0], sizeof one, 0);
	return argument;
}

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	/* with MPI: MPI_THREAD_MULTIPLE, or what else the program wants of it */
	ARMCI_Init_thread(0);
	int me = armci_msg_me(), np = armci_msg_nproc(), wrong = 0;
	base = malloc(np * sizeof *base);
	ARMCI_Malloc(base, sizeof(long));
	*(long *)base[me] = 0;
	ARMCI_Barrier();
	pthread_t thread[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	ARMCI_Barrier(); /* one thread of each rank */
	wrong = me == 0 && *(long *)base[0] != 4L * np;
	ARMCI_Free(base[me]);
	free(base);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
