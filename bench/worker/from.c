// SPDX-License-Identifier: BSD-3-Clause
// Finds where the loaded library is. Needs nothing of it but its name.
#define _GNU_SOURCE
#include "from.h"

#include <armci.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_must_be_from(const char *directory)
{
	Dl_info library;
	char want[PATH_MAX], got[PATH_MAX];
	if (dladdr((void *)ARMCI_Init, &library) && realpath(directory, want) &&
	    realpath(library.dli_fname, got) && strncmp(got, want, strlen(want)) == 0)
		return;
	fprintf(stderr, "bench: the library is not that of %s\n", directory);
	exit(1);
}
