// SPDX-License-Identifier: BSD-3-Clause
// several.h - small operations that are open together, and travel together between nodes.
#ifndef SEVERAL_H
#define SEVERAL_H

#include <armci.h>

// Puts or gets 40 doubles one by one, and waits; a return code that is not 0 if one fails.
static int several(double *here, void *there, int proc, int put)
{
	armci_hdl_t h;
	int code = 0;
	ARMCI_INIT_HANDLE(&h);
	for (int k = 0; k < 40 && code == 0; k++)
		code = put ? ARMCI_NbPut(here + k, (double *)there + k, sizeof(double), proc, &h)
			: ARMCI_NbGet((double *)there + k, here + k, sizeof(double), proc, &h);
	return code ? code : ARMCI_Wait(&h);
}

#endif
