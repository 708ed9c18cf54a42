// SPDX-License-Identifier: BSD-3-Clause
// Which MPI is in the process, and its constants. It must not call MPI except for functions that
// are allowed before MPI_Init.
#define _GNU_SOURCE
#include "abi_values.h"
#include "predefined.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

struct abi abi;
static char version[BOOT_MPI_VERSION_BYTES];

static void fill_open(void)
{
#define INT(member, name, open, mpich, standard)    abi.member = open;
#define OBJECT(member, name, open, mpich, standard) abi.member = (handle)real_object(#open);
	ABI_INTS(INT)
	ABI_HANDLES(OBJECT)
	abi.errors_abort = (handle)real_object("ompi_mpi_errors_abort"); // since Open MPI 5
#undef INT
}

static void fill_mpich(void)
{
#define INT(member, name, open, mpich, standard)      abi.member = mpich;
#define CONSTANT(member, name, open, mpich, standard) abi.member = (handle)mpich;
	ABI_INTS(INT)
	ABI_HANDLES(CONSTANT)
	abi.errors_abort = 0x54000003;
#undef INT
#undef CONSTANT
}

static void fill_standard(void)
{
#define INT(member, name, open, mpich, standard)      abi.member = standard;
#define CONSTANT(member, name, open, mpich, standard) abi.member = (handle)standard;
	ABI_INTS(INT)
	ABI_HANDLES(CONSTANT)
	abi.errors_abort = 0x142;
}

// find_flavour asks the MPI which ABI it has, and keeps its version text, one line.
static enum boot_mpi_flavour find_flavour(void)
{
	Dl_info file;
	int length = 0;
	real.Get_library_version(version, &length);
	version[sizeof version - 1] = 0;
	version[strcspn(version, "\n")] = 0;
	union { int (*code)(char *, int *); void *data; } address = { real.Get_library_version };
	return boot_mpi_flavour_of(
		(int (*)(int *, int *))real_function("PMPI_Abi_get_version"),
		dladdr(address.data, &file) ? file.dli_fname : NULL,
		real_object("ompi_mpi_comm_world") != NULL, version);
}

// Fills the constants; false: the MPI is not known, or it is Open MPI and lacks an object.
static bool fill(void)
{
	bool all = true;
	abi.flavour = find_flavour();
	abi.pointers = abi.flavour != BOOT_MPI_MPICH;
	switch (abi.flavour) {
	case BOOT_MPI_OPEN:     fill_open(); break;
	case BOOT_MPI_MPICH:    fill_mpich(); break;
	case BOOT_MPI_STANDARD: fill_standard(); break;
	default:                return false;
	}
#define PRESENT(member, name, open, mpich, standard) all = all && abi.member;
	ABI_HANDLES(PRESENT)
	return all;
}

const char *abi_unknown(void) { return version; }

bool abi_open(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static atomic_bool open;
	const char *missing;
	if (likely(atomic_load_explicit(&open, memory_order_acquire)))
		return true;
	pthread_mutex_lock(&lock);
	if (!atomic_load_explicit(&open, memory_order_relaxed) && real_open(&missing) && fill()) {
		predefined_open();
		atomic_store_explicit(&open, true, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return atomic_load_explicit(&open, memory_order_acquire);
}
