// SPDX-License-Identifier: BSD-3-Clause
// values.c - compares the constants that the libraries use (mpirma/abi_values.h, and for the
// standard ABI internal/bootstrap/mpi_flavour.h) with the mpi.h with which this is compiled: of
// Open MPI, MPICH, or the standard ABI. It must not call MPI.
#include "../../../mpirma/abi_values.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

static int failed, compared;

static void equal(const char *name, intptr_t is, intptr_t want)
{
	compared++;
	if (is == want)
		return;
	failed++;
	printf("%s is 0x%zx, not 0x%zx\n", name, (size_t)is, (size_t)want);
}

#if defined(OPEN_MPI)
#define INT(member, name, open, mpich, standard)    equal(#name, (intptr_t)name, open);
#define HANDLE(member, name, open, mpich, standard) equal(#name, (intptr_t)name, (intptr_t)&open);
#elif defined(MPICH)
#define INT(member, name, open, mpich, standard)    equal(#name, name, (int)mpich);
#define HANDLE(member, name, open, mpich, standard) equal(#name, name, (int)mpich);
#else
#define INT(member, name, open, mpich, standard)    equal(#name, (intptr_t)name, standard);
#define HANDLE(member, name, open, mpich, standard) equal(#name, (intptr_t)name, standard);
#endif

int main(void)
{
	ABI_INTS(INT)
	ABI_COMBINERS(INT)
	ABI_HANDLES(HANDLE)
	ABI_OPS(HANDLE)
	ABI_TYPES(HANDLE)
#ifndef MPICH
	ABI_TYPES_NOT_MPICH(HANDLE)
#endif
#ifdef OPEN_MPI
	ABI_TYPES_OPEN(HANDLE)
#endif
#if !defined(OPEN_MPI) && !defined(MPICH)
	INT(, MPI_THREAD_FUNNELED, , , STANDARD_THREAD_FUNNELED)
#endif
	printf("%d constants, %d wrong\n", compared, failed);
	return failed != 0;
}
