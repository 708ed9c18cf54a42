// SPDX-License-Identifier: BSD-3-Clause
// accumulate.c - adding into remote memory: all ranks add to the same array at the same time and
// nothing is lost. For newcomers.
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), nproc = armci_msg_nproc(), wrong = 0;

	// Only rank 0 has the array; the others ask for nothing and get NULL for themselves.
	void **array = malloc((size_t)nproc * sizeof *array);
	ARMCI_Malloc(array, me == 0 ? N * sizeof(double) : 0);
	if (me == 0)
		for (int i = 0; i < N; i++)
			((double *)array[0])[i] = 0;
	ARMCI_Barrier();

	double part[N], scale = 0.5;
	for (int i = 0; i < N; i++)
		part[i] = 2 * i;
	// array[i] += scale * part[i], atomic for each element against all other accumulates.
	ARMCI_Acc(ARMCI_ACC_DBL, &scale, part, array[0], sizeof part, 0);
	ARMCI_Barrier();

	if (me == 0) {
		double *sum = array[0];
		for (int i = 0; i < N; i++)
			wrong += sum[i] != (double)i * nproc;
		printf("element %d is %g after %d ranks added %d each: %s\n", N - 1, sum[N - 1],
			nproc, N - 1, wrong ? "WRONG" : "ok");
	}

	ARMCI_Barrier();
	ARMCI_Free(array[me]);
	free(array);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong != 0;
}
