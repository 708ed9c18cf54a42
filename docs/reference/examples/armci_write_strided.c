// SPDX-License-Identifier: BSD-3-Clause
// The example on the page of armci_write_strided.
#include <armci.h>

int main(int argc, char **argv)
{
	armci_msg_init(&argc, &argv);
	ARMCI_Init();
	int wrong = 0;
	double matrix[100][80], copy[100][80] = {{0}};
	for (int i = 0; i < 100; i++)
		for (int j = 0; j < 80; j++)
			matrix[i][j] = 80 * i + j;
	/* 10 x 20 elements from row 30, column 5 on, into a buffer and out of it again. */
	int count[2] = {20 * sizeof(double), 10}, stride = 80 * sizeof(double);
	char buffer[10 * 20 * sizeof(double)];
	armci_write_strided(&matrix[30][5], 1, &stride, count, buffer);
	armci_read_strided(&copy[30][5], 1, &stride, count, buffer);
	wrong = copy[39][24] != matrix[39][24] || copy[39][25] != 0;
	ARMCI_Finalize();
	armci_msg_finalize();
	return wrong;
}
