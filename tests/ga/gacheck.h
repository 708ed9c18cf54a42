/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gacheck.h: what every Global Arrays program here shares: start, checks that name their line, and
 * a verdict that is the same on all ranks. It must stay small and must call nothing of ARMCI
 * directly: the programs show that Global Arrays as its users write it runs over the library.
 */
#ifndef GACHECK_H
#define GACHECK_H

#include <ga.h>
#include <macdecls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int check_failures;

/* CHECK(condition, format, ...): counts a failure and prints the first ten of this rank. */
#define CHECK(condition, ...) \
	do { \
		if (!(condition) && check_failures++ < 10) { \
			fprintf(stderr, "[%d] %s:%d: ", GA_Nodeid(), __FILE__, __LINE__); \
			fprintf(stderr, __VA_ARGS__); \
			fputc('\n', stderr); \
		} \
	} while (0)

/* Starts MPI, Global Arrays and its stack memory (8 MB, in doubles). */
static inline void check_start(int *argc, char ***argv)
{
	MPI_Init(argc, argv);
	GA_Initialize();
	if (!MA_init(C_DBL, 500000, 500000))
		GA_Error((char *)"MA_init failed", 1);
}

/* Ends Global Arrays and MPI; returns the exit code: 0 when no rank saw a failure. */
static inline int check_finish(const char *name)
{
	int total = check_failures, me = GA_Nodeid(), n = GA_Nnodes();

	MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (me == 0 && total == 0)
		printf("ok ga/%s on %d ranks\n", name, n);
	else if (me == 0)
		printf("FAIL ga/%s: %d failed checks on %d ranks\n", name, total, n);
	GA_Terminate();
	MPI_Finalize();
	return total != 0;
}

/* A value that tells one element of a matrix from every other. */
static inline double check_value(int i, int j)
{
	return 1000.0 * i + j + 0.25;
}

#endif
