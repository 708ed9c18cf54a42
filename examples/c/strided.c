// SPDX-License-Identifier: BSD-3-Clause
// strided.c - a rectangular patch of a matrix in one call: rank 0 takes the middle out of
// the matrix of every rank. For newcomers; count and strides are the point.
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8, COLS = 10, PATCH_ROWS = 3, PATCH_COLS = 4, FIRST_ROW = 2, FIRST_COL = 5 };

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int me = armci_msg_me(), nproc = armci_msg_nproc(), wrong = 0;

	void **matrix = malloc((size_t)nproc * sizeof *matrix);
	ARMCI_Malloc(matrix, ROWS * COLS * sizeof(double));
	double *mine = matrix[me];
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLS; j++)
			mine[i * COLS + j] = 1000 * me + 10 * i + j;
	ARMCI_Barrier();

	if (me == 0) {
		// count[0] is in bytes (one piece of a row), count[1] in pieces (how many rows).
		int count[2] = {PATCH_COLS * sizeof(double), PATCH_ROWS};
		// Strides are in bytes from one piece to the next: a whole row there, a row of the
		// patch here.
		int there = COLS * sizeof(double), here = PATCH_COLS * sizeof(double);
		for (int r = 0; r < nproc; r++) {
			double patch[PATCH_ROWS][PATCH_COLS];
			double *from = (double *)matrix[r] + FIRST_ROW * COLS + FIRST_COL;
			ARMCI_GetS(from, &there, patch, &here, count, 1, r);
			for (int i = 0; i < PATCH_ROWS; i++) {
				for (int j = 0; j < PATCH_COLS; j++) {
					printf("%6.0f", patch[i][j]);
					wrong += patch[i][j] !=
						1000 * r + 10 * (FIRST_ROW + i) + FIRST_COL + j;
				}
				printf(i ? "\n" : "   of rank %d\n", r);
			}
		}
		printf(wrong ? "WRONG\n" : "ok\n");
	}

	ARMCI_Barrier();
	ARMCI_Free(matrix[me]);
	free(matrix);
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong != 0;
}
