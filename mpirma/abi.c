// SPDX-License-Identifier: BSD-3-Clause
// Which MPI is in the process, and its constants. It must not call MPI except for functions that
// are allowed before MPI_Init.
#include "abi_values.h"
#include "predefined.h"

#include <pthread.h>
#include <string.h>

struct abi abi;

enum { VERSION_BYTES = 8192 }; // at least MPI_MAX_LIBRARY_VERSION_STRING of both

static void fill_pointers(void)
{
	abi.pointers = true;
#define INT(member, name, open, mpich)    abi.member = open;
#define OBJECT(member, name, open, mpich) abi.member = (handle)real_object(#open);
	ABI_INTS(INT)
	ABI_HANDLES(OBJECT)
	abi.errors_abort = (handle)real_object("ompi_mpi_errors_abort"); // since Open MPI 5
#undef INT
}

static void fill_ints(void)
{
#define INT(member, name, open, mpich)      abi.member = mpich;
#define CONSTANT(member, name, open, mpich) abi.member = (handle)mpich;
	ABI_INTS(INT)
	ABI_HANDLES(CONSTANT)
	abi.errors_abort = 0x54000003;
}

static bool of_mpich_family(void)
{
	static const char *const family[] = { "MPICH", "MVAPICH", "Intel(R) MPI", "ParaStation" };
	static char text[VERSION_BYTES];
	int length = 0;
	real.Get_library_version(text, &length);
	text[VERSION_BYTES - 1] = 0;
	for (size_t i = 0; i < sizeof family / sizeof family[0]; i++)
		if (strstr(text, family[i]))
			return true;
	return false;
}

// Every handle of Open MPI is the address of an object that it must have.
static bool complete(void)
{
	bool all = true;
#define PRESENT(member, name, open, mpich) all = all && abi.member;
	ABI_HANDLES(PRESENT)
	return all;
}

bool abi_open(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static atomic_bool open;
	const char *missing;
	if (likely(atomic_load_explicit(&open, memory_order_acquire)))
		return true;
	pthread_mutex_lock(&lock);
	if (!atomic_load_explicit(&open, memory_order_relaxed) && real_open(&missing)) {
		bool known = true;
		if (real_object("ompi_mpi_comm_world"))
			fill_pointers();
		else if ((known = of_mpich_family()))
			fill_ints();
		if (known && complete()) {
			predefined_open();
			atomic_store_explicit(&open, true, memory_order_release);
		}
	}
	pthread_mutex_unlock(&lock);
	return atomic_load_explicit(&open, memory_order_acquire);
}
