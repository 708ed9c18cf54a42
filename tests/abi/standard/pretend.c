// SPDX-License-Identifier: BSD-3-Clause
// Preloaded in front of an MPI: PRETEND_ABI=MAJOR.MINOR answers MPI_Abi_get_version of MPI 5 (-1.-1
// if not set: the MPI has not the standard ABI), PRETEND_TEXT=TEXT MPI_Get_library_version.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int PMPI_Abi_get_version(int *major, int *minor)
{
	const char *answer = getenv("PRETEND_ABI");
	*major = *minor = -1;
	return answer && sscanf(answer, "%d.%d", major, minor) != 2;
}

int PMPI_Get_library_version(char *text, int *length)
{
	const char *answer = getenv("PRETEND_TEXT");
	if (!answer)
		return ((int (*)(char *, int *))dlsym(RTLD_NEXT, "PMPI_Get_library_version"))(text,
			length);
	*length = (int)strlen(strcpy(text, answer));
	return 0;
}

int MPI_Abi_get_version(int *major, int *minor) __attribute__((alias("PMPI_Abi_get_version")));
int MPI_Get_library_version(char *text, int *length)
	__attribute__((alias("PMPI_Get_library_version")));
