/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which ABI an MPI library has, by what it says of itself: the one rule for libarmci (mpi_abi.c)
 * and libarmci-mpirma (mpirma/abi.c), which find the functions of an MPI in different ways. It
 * must not guess: an MPI that nothing here recognises is BOOT_MPI_UNKNOWN.
 */
#ifndef BOOTSTRAP_MPI_FLAVOUR_H
#define BOOTSTRAP_MPI_FLAVOUR_H

#include <string.h>

/* The ABI of an MPI: what its handles and constants are. */
enum boot_mpi_flavour {
	BOOT_MPI_NONE,     /* no MPI in the process */
	BOOT_MPI_OPEN,     /* handles are pointers to objects of Open MPI */
	BOOT_MPI_MPICH,    /* the common ABI of MPICH, Intel MPI, MVAPICH, ...: handles are ints */
	BOOT_MPI_STANDARD, /* MPI 5's standard ABI, libmpi_abi: pointers, small constants */
	BOOT_MPI_UNKNOWN   /* an MPI of none of these kinds: cannot be used */
};

/* What BOOT_MPI_UNKNOWN is not: for messages. */
#define BOOT_MPI_KNOWN "Open MPI, the MPICH family, and MPI's standard ABI of version 1"

enum { BOOT_MPI_ABI_MAJOR = 1 }; /* minor versions of the standard ABI only add to it */

/* Constants of the standard ABI that both use: handles, and thread levels. */
enum {
	STANDARD_COMM_NULL = 0x100,
	STANDARD_COMM_WORLD = 0x101,
	STANDARD_BYTE = 0x247,
	STANDARD_THREAD_FUNNELED = 1024,
	STANDARD_THREAD_MULTIPLE = 4096
};

enum { BOOT_MPI_VERSION_BYTES = 8192 }; /* at least MPI_MAX_LIBRARY_VERSION_STRING of any flavour */

/* True if the text of MPI_Get_library_version names an MPI that has MPICH's own ABI. */
static inline int boot_mpi_of_mpich_family(const char *version)
{
	static const char *const family[] = { "MPICH", "MVAPICH", "Intel(R) MPI", "ParaStation" };
	for (size_t i = 0; i < sizeof family / sizeof family[0]; i++)
		if (strstr(version, family[i]))
			return 1;
	return 0;
}

/* True for the file of a libmpi_abi, whatever its version. */
static inline int boot_mpi_is_abi_library(const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL, *name = slash ? slash + 1 : file;
	return name && strncmp(name, "libmpi_abi.", strlen("libmpi_abi.")) == 0;
}

/*
 * abi_version: MPI_Abi_get_version, NULL where the MPI has none (before MPI 5). Both libraries of
 * an MPI have it, and that of the implementation's own ABI answers -1. It is asked first: Open
 * MPI's libmpi_abi loads a library that has ompi_mpi_comm_world, and MPICH's says that it is MPICH.
 * library: the file that the MPI's functions are in. MPICH 4.3 has a libmpi_abi of a draft of the
 * standard, without MPI_Abi_get_version, and with other thread levels: unknown.
 * open_mpi: the MPI has the object ompi_mpi_comm_world.
 */
static inline enum boot_mpi_flavour boot_mpi_flavour_of(int (*abi_version)(int *, int *),
	const char *library, int open_mpi, const char *version)
{
	int major = -1, minor = -1;
	if (abi_version && abi_version(&major, &minor))
		return BOOT_MPI_UNKNOWN;
	if (major != -1)
		return major == BOOT_MPI_ABI_MAJOR ? BOOT_MPI_STANDARD : BOOT_MPI_UNKNOWN;
	if (boot_mpi_is_abi_library(library))
		return BOOT_MPI_UNKNOWN;
	if (open_mpi)
		return BOOT_MPI_OPEN;
	return boot_mpi_of_mpich_family(version) ? BOOT_MPI_MPICH : BOOT_MPI_UNKNOWN;
}

#endif
