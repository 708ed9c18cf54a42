/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The few MPI functions that bootstrap needs, callable without knowing at
 * compile time which MPI, if any, will be in the process. It must not include
 * mpi.h: MPIs disagree about the type and value of every handle, and one
 * library serves all.
 *
 * Handles are passed as uintptr_t. Open MPI's and those of the standard ABI are
 * pointers; those of the MPICH family are ints, kept here in the low 32 bits
 * with the upper ones zero.
 * Functions return MPI's own return code, 0 for success, and expect that
 * boot_mpi_find found an MPI; those that touch handles, that it is initialised.
 */
#ifndef BOOTSTRAP_MPI_ABI_H
#define BOOTSTRAP_MPI_ABI_H

#include <stdint.h>

#include "mpi_flavour.h"

#pragma GCC visibility push(hidden)

/* Looks for an MPI; may be called again, a found one is not looked for twice. */
int boot_mpi_find(void);
/* The same after loading an MPI of a launcher's family, BOOT_MPI_OPEN or BOOT_MPI_MPICH: the
 * library of its own ABI, else that of the standard ABI. */
int boot_mpi_load(int family);

/* Text of MPI_Get_library_version, one line, cut to `bytes`; "" if there is none. */
void boot_mpi_version(char *text, int bytes);

int boot_mpi_initialized(void);     /* 1 once MPI_Init was called, also after MPI_Finalize */
int boot_mpi_finalized(void);       /* 1 once MPI_Finalize was called */
int boot_mpi_init(void *argc, void *argv);   /* argc: int *, argv: char ***, or both null */
int boot_mpi_finalize(void);
/* MPI_Query_thread: in the numbers of that MPI, which ascend from MPI_THREAD_SINGLE, 0. */
int boot_mpi_thread_level(int *level);
/* The version of MPI's standard ABI that the MPI says it has; 0: it has none. */
int boot_mpi_abi_version(int *major, int *minor);

/*
 * What a thread does again and again while it waits in a call of this library: MPI gets a chance to
 * go on with messages that the program has begun, since a peer may wait for one of them in MPI.
 * Does nothing where MPI may not be called.
 */
void boot_mpi_go_on(void);

/* Calls MPI_Finalize when the process exits with status 0 on this thread, if
 * that was not done before: for programs that do not know that this library has
 * initialised MPI. */
void boot_mpi_finalize_at_exit(void);

uintptr_t boot_mpi_comm_world(void);
uintptr_t boot_mpi_comm_null(void);

int boot_mpi_rank_size(uintptr_t comm, int *rank, int *size);
int boot_mpi_dup(uintptr_t comm, uintptr_t *out);
int boot_mpi_free(uintptr_t comm);
/* Collective over the listed members of comm only (MPI_Comm_create_group). */
int boot_mpi_create_group(uintptr_t comm, const int *ranks, int n, int tag, uintptr_t *out);
int boot_mpi_split(uintptr_t comm, int color, int key, uintptr_t *out);
int boot_mpi_bcast(void *bytes, int n, uintptr_t comm);   /* from its first rank */
int boot_mpi_allgather(const void *mine, int bytes, void *all, uintptr_t comm);
int boot_mpi_allgatherv(const void *mine, int bytes, void *all, const int *counts,
                        const int *displacements, uintptr_t comm);
int boot_mpi_abort(int code);       /* MPI_Abort of the world; does not return */

#pragma GCC visibility pop

#endif
