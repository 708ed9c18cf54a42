// SPDX-License-Identifier: BSD-3-Clause
// Finds the MPI's own functions behind this library. They are looked for by their PMPI_ names, so
// that neither this library nor a profiling tool in front of the MPI is called. It knows no
// constant and no handle: see abi.c.
#define _GNU_SOURCE
#include "rma.h"

#include <dlfcn.h>

struct real real;

// The MPI where the program's other libraries do not see it (Python loads it for one module only);
// NULL: it is where all are.
static void *hidden;

// POSIX promises that a data pointer holds a function's.
static real_fn *as_function(void *address)
{
	union { void *data; real_fn *code; } symbol = { address };
	return symbol.code;
}

void *real_symbol(const char *name) { return dlsym(hidden ? hidden : RTLD_NEXT, name); }

real_fn *real_function(const char *name) { return as_function(real_symbol(name)); }

// Not RTLD_NEXT: the program may have a copy of an object in itself, which the MPI then uses, too.
void *real_object(const char *name) { return dlsym(hidden ? hidden : RTLD_DEFAULT, name); }

// Does not load an MPI, but takes one that is loaded. A libmpi_abi is first: it may load the
// library of the MPI's own ABI.
static bool find_library(void)
{
	static const char *const sonames[] = { "libmpi_abi.so.1", "libmpi.so.40", "libmpich.so.12",
		"libmpi.so.12" };
	hidden = NULL;
	if (real_function("PMPI_Init"))
		return true;
	for (size_t i = 0; i < sizeof sonames / sizeof sonames[0]; i++) {
		hidden = dlopen(sonames[i], RTLD_LAZY | RTLD_NOLOAD);
		if (hidden && real_function("PMPI_Init"))
			return true;
	}
	hidden = NULL;
	return false;
}

bool real_open(const char **missing)
{
	*missing = NULL;
	if (!find_library())
		return false;
#define FIND(result, name, ...) real.name = (result (*)(__VA_ARGS__))real_function("PMPI_" #name);
	REAL_NEEDED(FIND)
	REAL_OPTIONAL(FIND)
	real.grequest_poll = (int (*)(void *, void *, void *, void *, void *, void *,
		handle *))real_function("PMPIX_Grequest_start");
	real.progress_register = (int (*)(int (*)(void)))real_function("opal_progress_register");
#define CHECK(result, name, ...) \
	if (!real.name) \
		*missing = "PMPI_" #name;
	REAL_NEEDED(CHECK)
	return !*missing;
}
