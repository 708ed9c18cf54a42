// SPDX-License-Identifier: BSD-3-Clause
// A libmpi_abi.so.1 for tests: MPI 5's standard ABI over the MPICH that is installed. It
// calls MPICH's functions with handles and constants translated. As those of Open MPI 6 and MPICH 5
// do, it leads astray what looks for an MPI by other signs: ompi_mpi_comm_world is in it, and its
// version text says MPICH. Only what the programs of tests need. Compiled with MPICH's mpi.h.
#define _GNU_SOURCE
#include "convert.h"

#include <dlfcn.h>
#include <string.h>

char ompi_mpi_comm_world[64], ompi_mpi_comm_null[64], ompi_mpi_byte[64];

// The function of the MPICH behind. It is loaded out of the sight of others, and finds its own
// functions before ours.
static void *behind(const char *name)
{
	static void *mpich;
	if (!mpich)
		mpich = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	void *found = mpich ? dlsym(mpich, name) : NULL;
	if (!found) {
		fprintf(stderr, "standard: no %s: %s\n", name, dlerror());
		abort();
	}
	return found;
}

#define REAL(name) ((__typeof__(&PMPI_##name))behind("PMPI_" #name))

// Defines PMPI_name, and MPI_name, which a program may define itself.
#define DEFINE(result, name, ...) \
	result std_##name(__VA_ARGS__) __asm__("PMPI_" #name); \
	extern __typeof__(std_##name) weak_##name __asm__("MPI_" #name) \
		__attribute__((weak, alias("PMPI_" #name))); \
	result std_##name(__VA_ARGS__)

int out_code(int code)
{
	int class = code;
	if (code != MPI_SUCCESS)
		REAL(Error_class)(code, &class);
	return out_class(class);
}

#define FORWARD(name, ...) \
	DEFINE(int, name, EACH(DECLARE, EACH_COMMA __VA_OPT__(, ) __VA_ARGS__)) \
	{ \
		EACH(BEFORE, EACH_NOTHING __VA_OPT__(, ) __VA_ARGS__) \
		int code = REAL(name)(EACH(PASS, EACH_COMMA __VA_OPT__(, ) __VA_ARGS__)); \
		if (code != MPI_SUCCESS) \
			return out_code(code); \
		EACH(AFTER, EACH_NOTHING __VA_OPT__(, ) __VA_ARGS__) \
		return MPI_SUCCESS; \
	}
#include "functions.h"

#include "calls.h"
