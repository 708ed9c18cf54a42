/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uses_ga: a matrix of which each rank writes one row into the part of another, checked by all.
 */
#include <ga.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLS = 1000 };

int main(int argc, char **argv)
{
	int wrong = 0;

	MPI_Init(&argc, &argv);
	GA_Initialize();
	int n = GA_Nnodes(), row = (GA_Nodeid() + 1) % n, dims[2] = {n, COLS}, ld[1] = {COLS};
	int a = NGA_Create(C_LONG, 2, dims, (char *)"rows", NULL);
	long mine[COLS], *all = malloc(sizeof *all * (size_t)n * COLS);

	for (int j = 0; j < COLS; j++)
		mine[j] = (long)row * COLS + j;
	NGA_Put(a, (int[]){row, 0}, (int[]){row, COLS - 1}, mine, ld);
	GA_Sync();
	NGA_Get(a, (int[]){0, 0}, (int[]){n - 1, COLS - 1}, all, ld);
	for (int k = 0; k < n * COLS; k++)
		wrong += all[k] != k;
	GA_Igop(&wrong, 1, (char *)"+");
	if (GA_Nodeid() == 0)
		printf("uses_ga: %s on %d ranks\n", wrong ? "failed" : "passed", n);
	free(all);
	GA_Destroy(a);
	GA_Terminate();
	MPI_Finalize();
	return wrong != 0;
}
