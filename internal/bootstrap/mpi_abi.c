/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Calls MPI through pointers of the right type for the implementation found at
 * run time. It must not include mpi.h and must not decide anything: see mpi.go.
 *
 * A symbol is taken from a weak reference, which also works when MPI is linked
 * statically into the program, and else from dlsym, which also works when MPI
 * was loaded after this library. Every function exists once for pointer handles
 * and once for int handles: an int passed in a 64-bit register has undefined
 * upper bits, and an out parameter of 4 bytes must not be written as 8.
 */
#define _GNU_SOURCE
#include "mpi_abi.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>

#define MPICH_COMM_WORLD 0x44000000
#define MPICH_COMM_NULL  0x04000000
#define MPICH_BYTE       0x4c00010d
#define UNUSUAL_TAG      32767     /* the largest that every MPI has */

typedef void anyfn(void);

#define FUNCTIONS(X) \
	X(MPI_Initialized) \
	X(MPI_Finalized) X(MPI_Init) X(MPI_Finalize) X(MPI_Query_thread) X(MPI_Is_thread_main) \
		X(MPI_Get_library_version) X(MPI_Comm_rank) X(MPI_Comm_size) X(MPI_Comm_dup) \
			X(MPI_Comm_free) X(MPI_Comm_group) X(MPI_Group_incl) X(MPI_Group_free) \
				X(MPI_Comm_create_group) X(MPI_Comm_split) X(MPI_Bcast) \
					X(MPI_Allgather) X(MPI_Allgatherv) X(MPI_Iprobe) \
						X(MPI_Abort)
#define OPTIONAL(X) \
	X(MPI_Abi_get_version)
#define OBJECTS(X) \
	X(ompi_mpi_comm_world) X(ompi_mpi_comm_null) X(ompi_mpi_byte)

#define WEAK_FUNCTION(name) extern anyfn name __attribute__((weak));
#define WEAK_OBJECT(name)   extern char name[] __attribute__((weak));
FUNCTIONS(WEAK_FUNCTION)
OPTIONAL(WEAK_FUNCTION)
OBJECTS(WEAK_OBJECT)

#define SLOT_FUNCTION(name) anyfn *name;
#define SLOT_OBJECT(name)   void *name;
static struct {
	int flavour;
	FUNCTIONS(SLOT_FUNCTION)
	OPTIONAL(SLOT_FUNCTION)
	OBJECTS(SLOT_OBJECT)
} mpi;

/* dlsym returns a data pointer; POSIX promises that it holds a function's too. */
static anyfn *as_function(void *address)
{
	union { void *data; anyfn *code; } symbol = { address };
	return symbol.code;
}

/*
 * The address of a function or object. An MPI that a program has loaded privately is found by
 * libarmci-mpirma.so, if that is in front of it.
 */
static void *address_of(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	anyfn *in_mpi = as_function(dlsym(RTLD_DEFAULT, "libarmci_mpirma_mpi_symbol"));
	return found || !in_mpi ? found : ((void *(*)(const char *))in_mpi)(name);
}

static anyfn *function_named(const char *name) { return as_function(address_of(name)); }

static int missing_functions(void)
{
	int missing = 0;
#define COUNT(name) missing += mpi.name == NULL;
	FUNCTIONS(COUNT)
	return missing;
}

static int missing_objects(void)
{
	int missing = 0;
	OBJECTS(COUNT)
	return missing;
}

/* The file that a function is in. */
static const char *library_of(anyfn *function)
{
	union { anyfn *code; void *data; } address = { function };
	Dl_info info;
	return dladdr(address.data, &info) ? info.dli_fname : NULL;
}

/* Of an MPI that has all functions. */
static int flavour_found(void)
{
	char text[256];
	boot_mpi_version(text, sizeof text);
	int flavour = boot_mpi_flavour_of((int (*)(int *, int *))mpi.MPI_Abi_get_version,
		library_of(mpi.MPI_Get_library_version), mpi.ompi_mpi_comm_world != NULL, text);
	if (flavour == BOOT_MPI_OPEN && missing_objects())
		return BOOT_MPI_UNKNOWN;
	return flavour;
}

/*
 * libarmci-mpirma.so has functions of MPI, but needs an MPI behind it: preloaded into a program
 * without one (armci-mpirma) it is none. It says so itself.
 */
static int is_hollow(void)
{
	anyfn *has_mpi = function_named("libarmci_mpirma_has_mpi");
	return has_mpi && !((int (*)(void))has_mpi)();
}

int boot_mpi_find(void)
{
	if (mpi.flavour != BOOT_MPI_NONE)
		return mpi.flavour;
	if (is_hollow())
		return BOOT_MPI_NONE;
#define FIND_FUNCTION(name) mpi.name = name ? name : function_named(#name);
#define FIND_OBJECT(name)   mpi.name = name ? (void *)name : address_of(#name);
	FUNCTIONS(FIND_FUNCTION)
	OPTIONAL(FIND_FUNCTION)
	OBJECTS(FIND_OBJECT)
	if (mpi.MPI_Init == NULL)
		return BOOT_MPI_NONE;
	mpi.flavour = missing_functions() ? BOOT_MPI_UNKNOWN : flavour_found();
	return mpi.flavour;
}

/*
 * The linker drops an MPI library of which the program names no symbol, as one
 * that leaves MPI_Init to armci_msg_init. Then the launcher's MPI is loaded by
 * the sonames of its ABI. The soname of the standard ABI is the same for every
 * MPI, so it comes last.
 */
int boot_mpi_load(int family)
{
	static const char *const open[] = { "libmpi.so.40", "libmpi_abi.so.1", NULL };
	static const char *const mpich[] = { "libmpich.so.12", "libmpi.so.12", "libmpi_abi.so.1",
		NULL };
	for (const char *const *name = family == BOOT_MPI_OPEN ? open : mpich; *name; name++)
		if (dlopen(*name, RTLD_NOW | RTLD_GLOBAL))
			break;
	return boot_mpi_find();
}

void boot_mpi_version(char *text, int bytes)
{
	static char whole[BOOT_MPI_VERSION_BYTES];
	int length = 0;
	if (mpi.MPI_Get_library_version)
		((int (*)(char *, int *))mpi.MPI_Get_library_version)(whole, &length);
	whole[strcspn(whole, "\n")] = 0;
	strncpy(text, whole, (size_t)bytes - 1);
	text[bytes - 1] = 0;
}

int boot_mpi_initialized(void)
{
	int yes = 0;
	if (mpi.MPI_Initialized)
		((int (*)(int *))mpi.MPI_Initialized)(&yes);
	return yes;
}

int boot_mpi_finalized(void)
{
	int yes = 0;
	if (mpi.MPI_Finalized)
		((int (*)(int *))mpi.MPI_Finalized)(&yes);
	return yes;
}

int boot_mpi_init(void *argc, void *argv)
{
	return ((int (*)(int *, char ***))mpi.MPI_Init)(argc, argv);
}

int boot_mpi_finalize(void)
{
	return ((int (*)(void))mpi.MPI_Finalize)();
}

int boot_mpi_thread_level(int *level)
{
	return ((int (*)(int *))mpi.MPI_Query_thread)(level);
}

static struct {
	pthread_t thread;
	pid_t process;
} initialiser;

/* Not on another thread, and not in a child that was forked and not replaced: MPI is its parent's.
 */
static void finalize_at_exit(int status, void *unused)
{
	(void)unused;
	if (status == 0 && getpid() == initialiser.process &&
		pthread_equal(pthread_self(), initialiser.thread) && !boot_mpi_finalized())
		boot_mpi_finalize();
}

void boot_mpi_finalize_at_exit(void)
{
	initialiser.thread = pthread_self();
	initialiser.process = getpid();
	on_exit(finalize_at_exit, NULL);
}

int boot_mpi_abi_version(int *major, int *minor)
{
	*major = -1;
	return mpi.MPI_Abi_get_version &&
		((int (*)(int *, int *))mpi.MPI_Abi_get_version)(major, minor) == 0 && *major != -1;
}

/* A handle of the flavour: the address of an object of Open MPI, or a constant. */
static uintptr_t handle_of(const void *open, uintptr_t standard, uintptr_t mpich)
{
	switch (mpi.flavour) {
	case BOOT_MPI_OPEN:     return (uintptr_t)open;
	case BOOT_MPI_STANDARD: return standard;
	default:                return mpich;
	}
}

uintptr_t boot_mpi_comm_world(void)
{
	return handle_of(mpi.ompi_mpi_comm_world, STANDARD_COMM_WORLD, MPICH_COMM_WORLD);
}

uintptr_t boot_mpi_comm_null(void)
{
	return handle_of(mpi.ompi_mpi_comm_null, STANDARD_COMM_NULL, MPICH_COMM_NULL);
}

/* MPI_BYTE of a flavour with pointers as handles. */
static void *pointer_byte(void)
{
	return (void *)handle_of(mpi.ompi_mpi_byte, STANDARD_BYTE, 0);
}

/* The functions that touch handles, once per type of handle. */

static void *pointer_from(uintptr_t h) { return (void *)h; }
static uintptr_t pointer_to(void *h) { return (uintptr_t)h; }
static int int_from(uintptr_t h) { return (int)(uint32_t)h; }
static uintptr_t int_to(int h) { return (uint32_t)h; }

#define HANDLE void *
#define NAME(verb) pointer_##verb
#define BYTE pointer_byte()
#include "mpi_handles.h"

#define HANDLE int
#define NAME(verb) int_##verb
#define BYTE MPICH_BYTE
#include "mpi_handles.h"

#define DISPATCH(verb, ...) \
	(mpi.flavour == BOOT_MPI_MPICH ? int_##verb(__VA_ARGS__) : pointer_##verb(__VA_ARGS__))

int boot_mpi_rank_size(uintptr_t comm, int *rank, int *size)
{
	return DISPATCH(rank_size, comm, rank, size);
}
int boot_mpi_dup(uintptr_t comm, uintptr_t *out) { return DISPATCH(dup, comm, out); }
int boot_mpi_free(uintptr_t comm) { return DISPATCH(free, comm); }
int boot_mpi_abort(int code) { return DISPATCH(abort, code); }

int boot_mpi_create_group(uintptr_t comm, const int *ranks, int n, int tag, uintptr_t *out)
{
	return DISPATCH(create_group, comm, ranks, n, tag, out);
}

int boot_mpi_split(uintptr_t comm, int color, int key, uintptr_t *out)
{
	return DISPATCH(split, comm, color, key, out);
}

int boot_mpi_bcast(void *bytes, int n, uintptr_t comm) { return DISPATCH(bcast, bytes, n, comm); }

int boot_mpi_allgather(const void *mine, int bytes, void *all, uintptr_t comm)
{
	return DISPATCH(allgather, mine, bytes, all, comm);
}

int boot_mpi_allgatherv(const void *mine, int bytes, void *all, const int *counts,
                        const int *displacements, uintptr_t comm)
{
	return DISPATCH(allgatherv, mine, bytes, all, counts, displacements, comm);
}

/*
 * A message that is looked for and not found makes an MPI do all that there is to do. If it is
 * there an MPI does nothing more, and if its sender has failed that is an error: so it is one to
 * oneself, with a tag that is hardly ever used.
 */
void boot_mpi_go_on(void)
{
	int standard = mpi.flavour == BOOT_MPI_STANDARD, level = 0, mine = 0;
	int funneled = standard ? STANDARD_THREAD_FUNNELED : 1;
	int multiple = standard ? STANDARD_THREAD_MULTIPLE : 3;
	if (!boot_mpi_initialized() || boot_mpi_finalized())
		return;
	boot_mpi_thread_level(&level);
	if (level <= funneled)
		((int (*)(int *))mpi.MPI_Is_thread_main)(&mine);
	if (level == multiple || mine)
		DISPATCH(probe, boot_mpi_comm_world());
}
