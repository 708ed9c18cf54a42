/*
 * types.c - element types: from ARMCI's codes to ours, and their sizes. Must not do arithmetic.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The two numberings of ARMCI_ACC_* in the wild do not overlap, so one table each is enough:
 *   classic ARMCI and ComEx   INT 37, DBL 38, FLT 39, CPL 40, DCP 41, LNG 42
 *   ARMCI-MPI                 INT 0, LNG 1, FLT 2, DBL 3, CPL 4, DCP 5
 */
#include "kernel.h"

enum { CLASSIC_FIRST = 37, CLASSIC_LAST = 42, MPI_FIRST = 0, MPI_LAST = 5 };

int k_type_of_acc(int optype)
{
	static const signed char classic[] = { K_INT, K_DBL, K_FLT, K_CPL, K_DCP, K_LNG };
	static const signed char mpi[] = { K_INT, K_LNG, K_FLT, K_DBL, K_CPL, K_DCP };

	if (optype >= CLASSIC_FIRST && optype <= CLASSIC_LAST)
		return classic[optype - CLASSIC_FIRST];
	if (optype >= MPI_FIRST && optype <= MPI_LAST)
		return mpi[optype - MPI_FIRST];
	return -1;
}

size_t k_type_size(int type)
{
	if (type == K_LLNG)
		return sizeof(long long);
	return k_small_size(type);
}
