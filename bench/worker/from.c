// SPDX-License-Identifier: BSD-3-Clause
// Finds where a loaded library is. It knows neither the library nor an MPI.
#define _GNU_SOURCE
#include "from.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_must_be_from(void *function, const char *directory)
{
	Dl_info library;
	char want[PATH_MAX], got[PATH_MAX];
	if (function && dladdr(function, &library) && realpath(directory, want) &&
	    realpath(library.dli_fname, got) && strncmp(got, want, strlen(want)) == 0)
		return;
	fprintf(stderr, "bench: the library is not that of %s\n", directory);
	exit(1);
}
