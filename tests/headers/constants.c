/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the constants that constants.f90 prints from the Fortran module, in the same order. Links with nothing. */
#include <armci.h>
#include <stdio.h>

int main(void) {
	const int value[] = {ARMCI_SWAP, ARMCI_SWAP_LONG, ARMCI_FETCH_AND_ADD, ARMCI_FETCH_AND_ADD_LONG, ARMCI_ACC_INT,
		ARMCI_ACC_DBL, ARMCI_ACC_FLT, ARMCI_ACC_CPL, ARMCI_ACC_DCP, ARMCI_ACC_LNG, ARMCI_MAX_STRIDE_LEVEL,
		ARMCI_DOMAIN_SMP, FAIL, FAIL2, FAIL3, FAIL4, FAIL5, FAIL6, FAIL7, FAIL8, (int)sizeof(void *)};
	size_t i;

	for (i = 0; i < sizeof value / sizeof value[0]; i++)
		printf("%d\n", value[i]);
	return 0;
}
